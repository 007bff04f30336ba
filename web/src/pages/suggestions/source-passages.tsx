import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { reportQuery, type Suggestion } from '../../api/suggestions.ts';
import { texts } from '../../texts/suggestions.ts';
import { Skeleton } from '../../ui/states.tsx';
import { StructuredText } from '../../ui/evidence/structured-text.tsx';
import { useRecords } from '../../ui/evidence/use-records.ts';
import { RelativeTime } from '../../ui/time.tsx';

/** How much of the report is shown before and after the passage. */
const around = 220;

/** The sentences of reports that led to a suggestion, in their place. Of a structured document, the fields of the objects with a passage are shown. */
export function SourcePassages({ suggestion }: { suggestion: Suggestion }) {
  const { evidence = [], sourceItemIds = [] } = suggestion;
  const itemIds = [...new Set([...evidence.map(({ itemId }) => itemId), ...sourceItemIds])];
  return (
    <section className="flex flex-col gap-3">
      <h3 className="text-12 font-strong text-muted">{texts.source}</h3>
      {itemIds.length === 0 && <p className="text-muted">{texts.noSource}</p>}
      {itemIds.map((itemId) => (
        <Report
          key={itemId}
          itemId={itemId}
          passages={evidence.filter((one) => one.itemId === itemId).map(({ evidenceRef }) => evidenceRef)}
        />
      ))}
    </section>
  );
}

type Span = { start: number; end: number };

const passageKey = 'passage';
const overlaps = (one: Span, other: Span): boolean => one.start < other.end && other.start < one.end;

function Report({ itemId, passages }: { itemId: string; passages: readonly string[] }) {
  const { data, error } = useQuery(reportQuery(itemId));
  const records = useRecords(data?.text);
  const [isWhole, setIsWhole] = useState(false);
  if (error) return <p className="text-muted">{`${texts.reportFailed} ${error.message}`}</p>;
  if (!data || records === undefined) return <Skeleton className="h-24 w-full" />;
  const { item, text } = data;
  const found = passages.flatMap((ref) => {
    const passage = item.provenance.supportingPassages[Number(/\[(\d+)\]$/.exec(ref)?.[1] ?? -1)];
    return passage ? [passage] : [];
  });
  const inPlace = found.filter(({ text: words, charSpan: { start, end } }) => text.slice(start, end) === words);
  const moved = found.filter((passage) => !inPlace.includes(passage));
  const spans = inPlace.map(({ charSpan }) => charSpan).toSorted((a, b) => a.start - b.start);
  const shown = isWhole
    ? { start: 0, end: text.length }
    : findContext(text, { start: spans[0]?.start ?? 0, end: spans.at(-1)?.end ?? 0 });
  const marked = records?.filter((record) => spans.some((span) => record.some((field) => overlaps(field, span)))) ?? [];
  // A passage in the name of a field is shown in the text.
  const fields = records && marked.length > 0 ? (isWhole ? records : marked) : null;
  const hides = fields ? marked.length < records!.length : shown.start > 0 || shown.end < text.length;
  const isCut = spans.length > 0 && (isWhole || hides);
  return (
    <article className="rounded-control border">
      <header className="flex flex-wrap items-baseline justify-between gap-x-3 border-b px-3 py-2">
        <Link to="/feed/$id" params={{ id: itemId }} className="min-w-0 font-strong break-words hover:underline">
          {item.event.title}
        </Link>
        <p className="text-12 text-muted">
          {item.source.publisher}
          {item.source.publishTime && (
            <>
              {' · '}
              <RelativeTime time={item.source.publishTime} />
            </>
          )}
        </p>
      </header>
      <div className="max-h-80 overflow-y-auto px-3 py-2" tabIndex={0} role="region" aria-label={item.event.title}>
        {spans.length > 0 && fields && (
          <StructuredText
            records={fields}
            marks={spans.map((span) => ({ key: passageKey, ...span }))}
            shown={passageKey}
          />
        )}
        {spans.length > 0 && !fields && (
          <p className="max-w-[72ch] break-words whitespace-pre-wrap">
            {shown.start > 0 && '… '}
            {mark(text, spans, shown)}
            {shown.end < text.length && ' …'}
          </p>
        )}
        {moved.map((passage) => (
          <div key={passage.charSpan.start}>
            {text !== '' && <p className="text-12 text-faint">{texts.passageChanged}</p>}
            <p className="max-w-[72ch] break-words">
              <mark>{passage.text}</mark>
            </p>
          </div>
        ))}
        {found.length === 0 && <p className="text-muted">{item.summary ?? item.tldr ?? item.event.title}</p>}
      </div>
      {isCut && (
        <button
          type="button"
          onClick={() => setIsWhole(!isWhole)}
          className="w-full border-t px-3 py-1.5 text-left text-12 text-muted hover:bg-hover hover:text-ink"
        >
          {isWhole ? texts.lessText : texts.wholeText}
        </button>
      )}
    </article>
  );
}

/** Returns what is shown around a passage. It begins and ends between words. */
function findContext(text: string, { start, end }: Span): Span {
  const before = text.slice(Math.max(0, start - around), start);
  const after = text.slice(end, end + around);
  return {
    start: start <= around ? 0 : start - before.length + (before.search(/\s/) + 1),
    end: end + around >= text.length ? text.length : end + after.replace(/\S*$/, '').trimEnd().length,
  };
}

/** Returns the part of a text that is shown, with the spans in it marked. Overlapping spans become one. */
function mark(text: string, spans: readonly Span[], shown: Span): React.ReactNode[] {
  const parts: React.ReactNode[] = [];
  let at = shown.start;
  for (const { start, end } of spans) {
    if (end <= at) continue;
    const from = Math.max(at, start);
    parts.push(text.slice(at, from), <mark key={from}>{text.slice(from, end)}</mark>);
    at = end;
  }
  parts.push(text.slice(at, shown.end));
  return parts;
}
