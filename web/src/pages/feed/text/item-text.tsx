import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { ApiProblem } from '../../../api/problem.ts';
import { itemTextQuery, type FeedItem } from '../../../api/feed.ts';
import { texts } from '../../../texts/feed.ts';
import { Section } from '../../../ui/section.tsx';
import { SegmentedControl } from '../../../ui/forms/segmented-control.tsx';
import { ErrorState, Skeleton } from '../../../ui/states.tsx';
import { markOther, markSubjects } from '../item/subjects.ts';
import type { Records } from '../../../lib/structured/read-records.ts';
import { type PassageProps, MarkedPieces } from '../../../ui/evidence/marked-pieces.tsx';
import { StructuredText } from '../../../ui/evidence/structured-text.tsx';
import { useRecords } from '../../../ui/evidence/use-records.ts';
import type { Mark } from '../../../lib/passages.ts';
import { formatNumber } from '../../../lib/text.ts';

type Props = PassageProps & { item: FeedItem };

/**
 * The text of an item as its source sent it. A structured document is shown as labeled fields, unless the address says `text=raw`. What was
 * read from the text is underlined, and what the reader asked for is highlighted.
 */
export function ItemText({ item, shown, onShow }: Props) {
  const { data, error, refetch } = useQuery(itemTextQuery(item.id, item.version));
  const records = useRecords(data?.text);
  const isRaw = useSearch({ strict: false }).text === 'raw';
  const navigate = useNavigate();
  if (error instanceof ApiProblem && error.status === 404)
    return (
      <Section title={texts.text}>
        <p className="text-muted">{texts.noText}</p>
      </Section>
    );
  const show = (form: string): void =>
    void navigate({
      to: '.',
      search: ((search: object) => ({ ...search, text: form === 'raw' ? form : undefined })) as never,
      replace: true,
    });
  return (
    <Section
      title={texts.text}
      actions={
        records && (
          <SegmentedControl
            label={texts.textForm}
            options={texts.textForms}
            value={isRaw ? 'raw' : 'fields'}
            onChange={show}
          />
        )
      }
    >
      {error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : data && records !== undefined ? (
        <MarkedText item={item} text={data.text} records={isRaw ? null : records} shown={shown} onShow={onShow} />
      ) : (
        <Skeleton className="h-40" />
      )}
    </Section>
  );
}

function MarkedText({ item, text, records, shown, onShow }: Props & { text: string; records: Records }) {
  const block = useRef<HTMLDivElement>(null);
  const first = useMemo(() => markSubjects(item, text), [item, text]);
  const marks = useMemo(
    () => (shown === undefined ? first : [...first, ...markOther(item, text, shown)]),
    [item, text, first, shown],
  );
  const found = marks.filter(({ key }) => key === shown).length;
  useEffect(() => {
    if (shown === undefined) return;
    block.current?.querySelector('mark')?.scrollIntoView({ block: 'center', behavior: 'auto' });
  }, [shown]);
  return (
    <>
      {shown !== undefined && (
        <p role="status" className="text-12 text-muted">
          {shown.slice(shown.indexOf(':') + 1)}: {found === 0 ? texts.notInText : texts.mentions(found)}
        </p>
      )}
      <div ref={block} className="flex flex-col gap-2">
        {records ? (
          <StructuredText records={records} marks={marks} shown={shown} onShow={onShow} />
        ) : (
          <RawText text={text} marks={marks} shown={shown} onShow={onShow} />
        )}
      </div>
    </>
  );
}

const shownFirst = 20_000;

type RawProps = PassageProps & { text: string; marks: readonly Mark[] };

/** The text of an item as it is stored. */
function RawText({ text, marks, shown, onShow }: RawProps) {
  const [showsAll, setShowsAll] = useState(false);
  const isHidden = (marks.find(({ key }) => key === shown)?.start ?? 0) >= shownFirst;
  const limit = showsAll || isHidden ? Infinity : shownFirst;
  return (
    <>
      <div className="max-w-[72ch] break-words whitespace-pre-wrap">
        <MarkedPieces text={text} marks={marks} limit={limit} shown={shown} onShow={onShow} />
      </div>
      {limit < text.length && (
        <p className="flex gap-3 text-12 text-muted">
          {texts.longText(formatNumber(shownFirst), formatNumber(text.length))}
          <button type="button" onClick={() => setShowsAll(true)} className="text-accent hover:underline">
            {texts.showAll}
          </button>
        </p>
      )}
    </>
  );
}
