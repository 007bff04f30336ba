import type { Suggestion } from '../../api/suggestions.ts';
import { classes } from '../../lib/text.ts';
import { texts } from '../../texts/suggestions.ts';
import { useCategoryLabel } from '../../ui/labels/category-label.tsx';
import { RelativeTime } from '../../ui/time.tsx';

type Props = { suggestion: Suggestion; isSelected: boolean; isTabStop: boolean; onOpen: () => void };

export function SuggestionRow({ suggestion, isSelected, isTabStop, onOpen }: Props) {
  const { name, technique, detectionCategory, estimate, createdAt, deletedAt, dismissReason } = suggestion;
  const labelOf = useCategoryLabel();
  const about = [technique, detectionCategory && labelOf(detectionCategory)].filter(Boolean).join(' · ');
  return (
    <button
      role="option"
      aria-selected={isSelected}
      tabIndex={isTabStop ? 0 : -1}
      onClick={onOpen}
      className={classes(
        'grid h-13 w-full grid-cols-[1fr_auto] items-center gap-x-3 border-b pr-row-end pl-4 text-left -outline-offset-2',
        isSelected ? 'bg-selected' : 'hover:bg-hover',
      )}
    >
      <span className="min-w-0">
        <span className="block truncate font-strong">{name}</span>
        <span className="block truncate text-12 text-muted">
          {dismissReason ? `${texts.reasons[dismissReason]} · ${about}` : about}
        </span>
      </span>
      <span className="flex flex-col items-end gap-px text-12 text-muted">
        <RelativeTime time={deletedAt ?? createdAt} />
        <span className="tabular">{estimate ? texts.perDay(estimate.hitsPerDay) : texts.noEstimate}</span>
      </span>
    </button>
  );
}
