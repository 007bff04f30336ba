import { useQueries } from '@tanstack/react-query';
import { diffLines, diffWordsWithSpace } from 'diff';
import { useMemo } from 'react';
import { itemTextQuery } from '../../../api/feed.ts';
import { texts } from '../../../texts/feed.ts';
import { ErrorState, Skeleton } from '../../../ui/states.tsx';

/** Texts longer than this are compared by line, which is faster than by word. */
const wordsMax = 20_000;
const contextLength = 160;

type Props = { id: string; from: number; to: number };

/** The changes of the text from one version to another: removed words struck through, added ones highlighted. */
export default function TextComparison({ id, from, to }: Props) {
  const [before, after] = useQueries({ queries: [itemTextQuery(id, from), itemTextQuery(id, to)] });
  const old = before.data?.text;
  const current = after.data?.text;
  const parts = useMemo(() => {
    if (old === undefined || current === undefined) return null;
    return old.length + current.length > wordsMax ? diffLines(old, current) : diffWordsWithSpace(old, current);
  }, [old, current]);
  const failed = before.error ? before : after.error ? after : null;
  if (failed?.error) return <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />;
  if (!parts) return <Skeleton className="h-24" />;
  if (parts.every(({ added, removed }) => !added && !removed))
    return <p className="py-1 text-muted">{texts.sameText}</p>;
  return (
    <div
      role="region"
      aria-label={texts.compareWith(from)}
      tabIndex={0}
      className="max-h-96 overflow-auto rounded-control border p-2.5 font-mono leading-5 break-words whitespace-pre-wrap"
    >
      {parts.map(({ value, added, removed }, index) =>
        added ? (
          <ins key={index} className="bg-mark no-underline">
            {value}
          </ins>
        ) : removed ? (
          <del key={index} className="text-bad">
            {value}
          </del>
        ) : (
          <span key={index} className="text-muted">
            {shorten(value)}
          </span>
        ),
      )}
    </div>
  );
}

/** Shortens an unchanged passage to its beginning and end. */
const shorten = (text: string): string =>
  text.length <= 2 * contextLength ? text : `${text.slice(0, contextLength)} … ${text.slice(-contextLength)}`;
