import type { Hit } from '../../api/hits.ts';
import { classes, countOf } from '../../lib/text.ts';
import { SeverityMark } from '../../ui/severity.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { StatusLabel } from './statuses.tsx';

export const hitRowHeight = 52;

type Props = { hit: Hit; isSelected: boolean; onOpen: () => void; onHover: () => void };

export function HitRow({ hit, isSelected, onOpen, onHover }: Props) {
  return (
    <button
      role="option"
      aria-selected={isSelected}
      tabIndex={isSelected ? 0 : -1}
      data-hit={hit.id}
      onClick={onOpen}
      onPointerEnter={onHover}
      className={classes(
        'grid h-full w-full grid-cols-[auto_1fr_auto] items-center gap-x-3 border-b px-4 text-left -outline-offset-2',
        isSelected ? 'bg-selected' : 'hover:bg-hover',
      )}
    >
      <SeverityMark severity={hit.severity} />
      <span className="min-w-0">
        <span className={classes('block truncate', hit.status === 'open' && 'font-strong')}>{hit.headline}</span>
        <span className="block truncate text-12 text-muted">
          {hit.detection.name}
          {hit.occurrenceCount > 1 && ` · ${countOf(hit.occurrenceCount, 'window')}`}
        </span>
      </span>
      <span className="flex flex-col items-end gap-px text-12 text-muted">
        <RelativeTime time={hit.lastSeenAt} />
        {hit.status !== 'open' && <StatusLabel status={hit.status} />}
      </span>
    </button>
  );
}
