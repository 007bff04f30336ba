import type { Hit } from '../../api/hits.ts';
import { classes, countOf } from '../../lib/text.ts';
import { Check } from 'lucide-react';
import { SeverityMark } from '../../ui/labels/severity.tsx';
import { texts as evidence } from '../../texts/evidence.ts';
import { RelativeTime } from '../../ui/time.tsx';
import { StatusLabel } from './statuses.tsx';

export const hitRowHeight = 52;

type Props = {
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

export function HitRow({ hit, isOpen, isChosen, isTabStop, onOpen, onToggle, onHover }: Props) {
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
