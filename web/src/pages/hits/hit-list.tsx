import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useRef } from 'react';
import { Check } from 'lucide-react';
import type { Hit } from '../../api/hits.ts';
import { classes, countOf } from '../../lib/text.ts';
import { useListPlace } from '../../lib/use-list-place.ts';
import { texts as evidence } from '../../texts/evidence.ts';
import { texts } from '../../texts/hits.ts';
import { SeverityMark } from '../../ui/labels/severity.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { StatusLabel } from './statuses.tsx';

type Props = {
  /** Null while the first page loads. */
  hits: Hit[] | null;
  /** The filters of the list. */
  filter: object;
  openId: string | undefined;
  chosen: ReadonlySet<string>;
  onOpen: (id: string) => void;
  onToggle: (id: string) => void;
  onHover: (id: string) => void;
  onEnd: () => void;
};

export function HitList({ hits, filter, openId, chosen, onOpen, onToggle, onHover, onEnd }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const place = useListPlace(scroller, 'hits', filter);
  const virtual = useVirtualizer({
    count: hits?.length ?? 0,
    getScrollElement: () => scroller.current,
    estimateSize: () => hitRowHeight,
    overscan: 12,
  });
  useSteadyPlace(scroller, hits);
  const rows = virtual.getVirtualItems();
  const lastIndex = rows.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hits && lastIndex >= hits.length - 20) onEnd();
  }, [hits, lastIndex, onEnd]);
  const openIndex = hits?.findIndex(({ id }) => id === openId) ?? -1;
  useEffect(() => {
    if (openIndex >= 0) virtual.scrollToIndex(openIndex, { align: 'auto' });
  }, [openIndex, virtual]);
  if (!hits) return <ListSkeleton />;
  return (
    <div ref={scroller} className="h-full overflow-y-auto" {...place}>
      <div
        role="listbox"
        aria-label={texts.title}
        aria-multiselectable
        className="relative"
        style={{ height: virtual.getTotalSize() }}
      >
        {rows.map(({ index, start }) => {
          const hit = hits[index]!;
          return (
            <div
              key={hit.id}
              className="absolute inset-x-0 top-0"
              style={{ height: hitRowHeight, transform: `translateY(${start}px)` }}
            >
              <HitRow
                hit={hit}
                isOpen={hit.id === openId}
                isChosen={chosen.has(hit.id)}
                isTabStop={index === Math.max(0, openIndex)}
                onOpen={() => onOpen(hit.id)}
                onToggle={() => onToggle(hit.id)}
                onHover={() => onHover(hit.id)}
              />
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** Keeps the rows in view where they are when hits arrive above them, unless the list stands at its beginning. */
function useSteadyPlace(scroller: React.RefObject<HTMLDivElement | null>, hits: Hit[] | null): void {
  const first = useRef<string>(undefined);
  const firstId = hits?.[0]?.id;
  useLayoutEffect(() => {
    const before = first.current;
    first.current = firstId;
    if (before === undefined || before === firstId || !scroller.current || scroller.current.scrollTop === 0) return;
    const added = hits?.findIndex(({ id }) => id === before) ?? -1;
    if (added > 0) scroller.current.scrollTop += added * hitRowHeight;
  }, [firstId, hits, scroller]);
}

function ListSkeleton() {
  return Array.from({ length: 8 }, (_, row) => (
    <div key={row} className="flex flex-col justify-center gap-2 border-b px-4" style={{ height: hitRowHeight }}>
      <Skeleton className="h-3 w-2/5" />
      <Skeleton className="h-2.5 w-1/4" />
    </div>
  ));
}

const hitRowHeight = 52;

type RowProps = {
  hit: Hit;
  /** It is open in the panel. */
  isOpen: boolean;
  /** It is selected for a change of several hits. */
  isChosen: boolean;
  /** Tab leads to it. */
  isTabStop: boolean;
  onOpen: () => void;
  onToggle: () => void;
  onHover: () => void;
};

function HitRow({ hit, isOpen, isChosen, isTabStop, onOpen, onToggle, onHover }: RowProps) {
  return (
    <button
      role="option"
      aria-selected={isOpen}
      aria-checked={isChosen}
      tabIndex={isTabStop ? 0 : -1}
      data-hit={hit.id}
      onClick={(event) => {
        const isOnBox = event.target instanceof Element && event.target.closest('[data-select]');
        if (isOnBox || event.metaKey || event.ctrlKey) onToggle();
        else onOpen();
      }}
      onPointerEnter={onHover}
      className={classes(
        'group grid h-full w-full grid-cols-[auto_1fr_auto] items-center border-b pr-row-end text-left -outline-offset-2',
        isOpen ? 'bg-selected' : isChosen ? 'bg-hover' : 'hover:bg-hover',
      )}
    >
      <span data-select className="flex h-full w-11 items-center justify-center pl-1">
        <span className={isChosen ? 'hidden' : 'contents group-hover:hidden'}>
          <SeverityMark severity={hit.severity} />
        </span>
        <span
          aria-hidden
          className={classes(
            'size-3.5 items-center justify-center rounded-small border',
            isChosen
              ? 'flex border-accent bg-accent text-on-accent'
              : 'hidden border-line-strong bg-surface group-hover:flex',
          )}
        >
          {isChosen && <Check className="size-3" strokeWidth={3} />}
        </span>
      </span>
      <span className="min-w-0">
        <span className={classes('block truncate', hit.status === 'open' && 'font-strong')}>{hit.headline}</span>
        <span className="block truncate text-12 text-muted">
          {hit.detection.name}
          {hit.occurrenceCount > 1 && ` · ${countOf(hit.occurrenceCount, 'window')}`}
        </span>
      </span>
      <span className="flex flex-col items-end gap-px pl-3 text-12 text-muted">
        <RelativeTime time={hit.lastSeenAt} />
        {hit.status !== 'open' ? (
          <StatusLabel status={hit.status} />
        ) : (
          hit.verdict === 'undecided' && <span>{evidence.undecided}</span>
        )}
      </span>
    </button>
  );
}
