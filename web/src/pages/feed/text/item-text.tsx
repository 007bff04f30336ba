import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { ApiProblem } from '../../api/problem.ts';
import { itemTextQuery, type FeedItem } from '../../api/feed.ts';
import { cutSegments } from '../../lib/passages.ts';
import { classes, formatNumber } from '../../lib/text.ts';
import { texts } from '../../texts/feed.ts';
import { Section } from '../../ui/section.tsx';
import { ErrorState, Skeleton } from '../../ui/states.tsx';
import { markSubjects, type PassageProps } from './subjects.ts';

const shownFirst = 20_000;

/** The text of an item as its source sent it. What was read from it is underlined, and what the reader asked for is highlighted. */
export function ItemText({ item, shown, onShow }: PassageProps & { item: FeedItem }) {
  const { data, error, refetch } = useQuery(itemTextQuery(item.id, item.version));
  if (error instanceof ApiProblem && error.status === 404)
    return (
      <Section title={texts.text}>
        <p className="text-muted">{texts.noText}</p>
      </Section>
    );
  return (
    <Section title={texts.text}>
      {error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : data ? (
        <MarkedText item={item} text={data.text} shown={shown} onShow={onShow} />
      ) : (
        <Skeleton className="h-40" />
      )}
    </Section>
  );
}

function MarkedText({ item, text, shown, onShow }: PassageProps & { item: FeedItem; text: string }) {
  const [showsAll, setShowsAll] = useState(false);
  const block = useRef<HTMLDivElement>(null);
  const marks = useMemo(() => markSubjects(item, text), [item, text]);
  const segments = useMemo(() => cutSegments(text, marks), [text, marks]);
  const found = marks.filter(({ key }) => key === shown);
  const isHidden = (found[0]?.start ?? 0) >= shownFirst;
  const limit = showsAll || isHidden ? Infinity : shownFirst;
  useEffect(() => {
    if (shown === undefined) return;
    block.current?.querySelector('mark')?.scrollIntoView({ block: 'center', behavior: 'auto' });
  }, [shown]);
  return (
    <>
      {shown !== undefined && (
        <p role="status" className="text-12 text-muted">
          {shown.slice(shown.indexOf(':') + 1)}: {found.length === 0 ? texts.notInText : texts.mentions(found.length)}
        </p>
      )}
      <div ref={block} className="max-w-[72ch] break-words whitespace-pre-wrap">
        {segments
          .filter(({ start }) => start < limit)
          .map(({ text: piece, start, keys }) =>
            keys.length === 0 ? (
              <span key={start}>{start + piece.length > limit ? piece.slice(0, limit - start) : piece}</span>
            ) : shown !== undefined && keys.includes(shown) ? (
              <mark key={start} className="rounded-small box-decoration-clone px-0.5 -mx-0.5">
                {piece}
              </mark>
            ) : (
              <span
                key={start}
                // A click is a shortcut. The buttons beside the subjects do the same for the keyboard.
                onClick={() => onShow(keys.at(-1))}
                className={classes(
                  'cursor-pointer underline decoration-line-strong decoration-dotted underline-offset-3',
                )}
              >
                {piece}
              </span>
            ),
          )}
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
