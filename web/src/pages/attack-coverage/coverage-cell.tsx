import type { CoveredTechnique } from '../../api/coverage.ts';
import { classes } from '../../lib/text.ts';
import { texts } from '../../texts/coverage.ts';
import { isThreatened, isUnwatchedThreat, percentOf } from './techniques.ts';

/** The share of the accent in the fullest cell. Text stays readable on it in both themes. */
const shadeMax = 38;

type Props = {
  technique: CoveredTechnique;
  position: string;
  isSelected: boolean;
  /** Whether the Tab key stops here. */
  isReachable: boolean;
  onOpen: () => void;
};

/** A technique: its shade is the coverage, and a mark in its corner says that relevant items mention it. */
export function CoverageCell({ technique, position, isSelected, isReachable, onOpen }: Props) {
  const { id, name, groupScore, threats } = technique;
  const isUnwatched = isUnwatchedThreat(technique);
  return (
    <button
      type="button"
      data-cell={position}
      tabIndex={isReachable ? 0 : -1}
      aria-label={texts.cell(name, id, percentOf(groupScore), threats?.items ?? 0)}
      aria-current={isSelected || undefined}
      onClick={onOpen}
      style={{
        backgroundColor: `color-mix(in oklab, var(--color-accent) ${Math.round(groupScore * shadeMax)}%, var(--color-surface))`,
      }}
      className={classes(
        'relative flex h-10 w-full items-center rounded-small border px-1.5 text-left text-12 leading-4 hover:border-line-strong',
        isUnwatched && 'border-high',
        isSelected && 'outline-2 outline-accent',
        groupScore === 0 && !isUnwatched && 'text-muted',
      )}
    >
      <span className={classes('line-clamp-2 break-words', isThreatened(technique) && 'pr-4')}>{name}</span>
      {threats && <ThreatMark count={threats.items} isUnwatched={isUnwatched} />}
    </button>
  );
}

/**
 * The corner of a threatened cell: filled if nothing watches it, with the number of relevant items. The number is no text of the button, because
 * the visible text must be part of the button's name (WCAG 2.5.3), which says the number in words.
 */
function ThreatMark({ count, isUnwatched }: { count: number; isUnwatched: boolean }) {
  return (
    <span
      aria-hidden
      data-count={count > 99 ? '99+' : count}
      className={classes(
        'tabular absolute top-0 right-0 flex h-4 min-w-4 items-center justify-center rounded-tr-small rounded-bl-small px-1 leading-none before:content-[attr(data-count)]',
        isUnwatched ? 'bg-high font-strong text-on-accent' : 'border-b border-l border-line-strong bg-surface text-ink',
      )}
    />
  );
}
