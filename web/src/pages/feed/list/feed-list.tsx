import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useRef } from 'react';
import { useListPlace } from '../../../lib/use-list-place.ts';
import { texts } from '../../../texts/feed.ts';
import { Skeleton } from '../../../ui/states.tsx';
import { FeedRow, feedRowHeight, matchedRowHeight } from './feed-row.tsx';
import type { FeedEntry } from './fold-parts.ts';
import type { SearchMatches } from './search-matches.ts';

type Props = {
  /** Null while the first page loads. */
  entries: FeedEntry[] | null;
  /** Where items match the search, by ID. */
  matches: ReadonlyMap<string, SearchMatches>;
  /** The filters of the list. */
  filter: object;
  /** The index of the open entry, or -1. */
  openIndex: number;
  onOpen: (id: string) => void;
  onHover: (id: string) => void;
  onEnd: () => void;
  /** Content below the last entry. */
  end: React.ReactNode;
};

export function FeedList({ entries, matches, filter, openIndex, onOpen, onHover, onEnd, end }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const place = useListPlace(scroller, 'feed', filter);
  const virtual = useVirtualizer({
    count: entries?.length ?? 0,
    getScrollElement: () => scroller.current,
    // Other items have rows of other heights, so each list of items has keys of its own.
    getItemKey: useCallback((index: number) => entries?.[index]?.id ?? index, [entries]),
    estimateSize: (index) => heightOf(matches.get(entries?.[index]?.items[0]?.id ?? '')),
    overscan: 12,
  });
  const rows = virtual.getVirtualItems();
  const lastIndex = rows.at(-1)?.index ?? 0;
  useEffect(() => {
    if (entries && lastIndex >= entries.length - 20) onEnd();
  }, [entries, lastIndex, onEnd]);
  useEffect(() => {
    if (openIndex >= 0) virtual.scrollToIndex(openIndex, { align: 'auto' });
  }, [openIndex, virtual]);
  if (!entries) return <ListSkeleton />;
  return (
    <div ref={scroller} className="h-full overflow-y-auto" {...place}>
      <div role="listbox" aria-label={texts.title} className="relative" style={{ height: virtual.getTotalSize() }}>
        {rows.map(({ index, start, size }) => {
          const entry = entries[index]!;
          const { id } = entry.items[0]!;
          return (
            <div
              key={entry.id}
              className="absolute inset-x-0 top-0"
              style={{ height: size, transform: `translateY(${start}px)` }}
            >
              <FeedRow
                entry={entry}
                matches={matches.get(id)}
                isSelected={index === openIndex}
                isFirst={index === 0 && openIndex < 0}
                onOpen={() => onOpen(id)}
                onHover={() => onHover(id)}
              />
            </div>
          );
        })}
      </div>
      {end}
    </div>
  );
}

const heightOf = (matches: SearchMatches | undefined): number => (matches?.excerpt ? matchedRowHeight : feedRowHeight);

function ListSkeleton() {
  return Array.from({ length: 10 }, (_, row) => (
    <div key={row} className="flex flex-col justify-center gap-2 border-b px-4" style={{ height: feedRowHeight }}>
      <Skeleton className="h-3 w-2/5" />
      <Skeleton className="h-2.5 w-1/4" />
    </div>
  ));
}
