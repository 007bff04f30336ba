import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useRef } from 'react';
import type { FeedItem } from '../../../api/feed.ts';
import { useListPlace } from '../../../lib/use-list-place.ts';
import { texts } from '../../../texts/feed.ts';
import { Skeleton } from '../../../ui/states.tsx';
import { FeedRow, feedRowHeight, matchedRowHeight } from './feed-row.tsx';
import type { SearchMatches } from './search-matches.ts';

type Props = {
  /** Null while the first page loads. */
  items: FeedItem[] | null;
  /** Where items match the search, by ID. */
  matches: ReadonlyMap<string, SearchMatches>;
  /** The filters of the list. */
  filter: object;
  openId: string | undefined;
  onOpen: (id: string) => void;
  onHover: (id: string) => void;
  onEnd: () => void;
};

export function FeedList({ items, matches, filter, openId, onOpen, onHover, onEnd }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const place = useListPlace(scroller, 'feed', filter);
  const virtual = useVirtualizer({
    count: items?.length ?? 0,
    getScrollElement: () => scroller.current,
    // Other items have rows of other heights, so each list of items has keys of its own.
    getItemKey: useCallback((index: number) => items?.[index]?.id ?? index, [items]),
    estimateSize: (index) => heightOf(matches.get(items?.[index]?.id ?? '')),
    overscan: 12,
  });
  const rows = virtual.getVirtualItems();
  const lastIndex = rows.at(-1)?.index ?? 0;
  useEffect(() => {
    if (items && lastIndex >= items.length - 20) onEnd();
  }, [items, lastIndex, onEnd]);
  const openIndex = items?.findIndex(({ id }) => id === openId) ?? -1;
  useEffect(() => {
    if (openIndex >= 0) virtual.scrollToIndex(openIndex, { align: 'auto' });
  }, [openIndex, virtual]);
  if (!items) return <ListSkeleton />;
  return (
    <div ref={scroller} className="h-full overflow-y-auto" {...place}>
      <div role="listbox" aria-label={texts.title} className="relative" style={{ height: virtual.getTotalSize() }}>
        {rows.map(({ index, start, size }) => {
          const item = items[index]!;
          return (
            <div
              key={item.id}
              className="absolute inset-x-0 top-0"
              style={{ height: size, transform: `translateY(${start}px)` }}
            >
              <FeedRow
                item={item}
                matches={matches.get(item.id)}
                isSelected={item.id === openId}
                isFirst={index === 0 && openIndex < 0}
                onOpen={() => onOpen(item.id)}
                onHover={() => onHover(item.id)}
              />
            </div>
          );
        })}
      </div>
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
