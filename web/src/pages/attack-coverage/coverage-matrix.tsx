import { useRef } from 'react';
import type { Coverage, CoveredTechnique } from '../../api/coverage.ts';
import { classes } from '../../lib/text.ts';
import { texts } from '../../texts/coverage.ts';
import {
  isWatched,
  isThreatened,
  isUnwatchedThreat,
  percentOf,
  rehearsedState,
  type RehearsedState,
} from './techniques.ts';

type Props = {
  coverage: Coverage;
  techniques: CoveredTechnique[];
  openId: string | undefined;
  onOpen: (id: string) => void;
};

const steps: Record<string, [columns: number, rows: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** The techniques by tactic, in the order of an intrusion. A parent stands for its sub-techniques. The arrow keys move between cells. */
export function CoverageMatrix({ coverage, techniques, openId, onOpen }: Props) {
  const grid = useRef<HTMLDivElement>(null);
  const ids = new Set(techniques.map(({ id, parentId }) => parentId ?? id));
  const parents = coverage.techniques.filter(({ id, parentId }) => parentId === null && ids.has(id));
  const columns = coverage.tactics
    .map((tactic) => ({ tactic, cells: parents.filter(({ tactics }) => tactics.includes(tactic.shortName)) }))
    .filter(({ cells }) => cells.length > 0);
  const openParent = coverage.techniques.find(({ id }) => id === openId)?.parentId ?? openId;
  const isInMatrix = parents.some(({ id }) => id === openParent);
  const move = (event: React.KeyboardEvent): void => {
    const [across, down] = steps[event.key] ?? [];
    const from = event.target instanceof HTMLElement ? event.target.dataset['cell']?.split(':').map(Number) : undefined;
    if (across === undefined || down === undefined || !from) return;
    event.preventDefault();
    const column = columns[from[0]! + across];
    if (!column) return;
    const row = Math.min(column.cells.length - 1, from[1]! + down);
    grid.current?.querySelector<HTMLElement>(`[data-cell="${from[0]! + across}:${row}"]`)?.focus();
  };
  return (
    <div ref={grid} onKeyDown={move} className="flex min-h-0 grow gap-1.5 overflow-auto px-4 pb-4">
      {columns.map(({ tactic, cells }, column) => (
        <section key={tactic.id} className="flex w-34 shrink-0 flex-col" aria-label={tactic.name}>
          <h2 className="sticky top-0 z-10 flex min-h-12 flex-col justify-center bg-surface text-12">
            <span className="font-strong">{tactic.name}</span>
            <span className="tabular text-faint">{texts.column(cells.filter(isWatched).length, cells.length)}</span>
          </h2>
          <ul className="flex flex-col gap-1">
            {cells.map((technique, row) => (
              <li key={technique.id}>
                <CoverageCell
                  technique={technique}
                  state={rehearsedState(coverage.techniques.filter((one) => (one.parentId ?? one.id) === technique.id))}
                  position={`${column}:${row}`}
                  isSelected={technique.id === openParent}
                  isReachable={isInMatrix ? technique.id === openParent : column === 0 && row === 0}
                  onOpen={() => onOpen(technique.id)}
                />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

/** The share of the accent in the fullest cell. Text stays readable on it in both themes. */
const shadeMax = 38;

type CellProps = {
  technique: CoveredTechnique;
  state: RehearsedState | undefined;
  position: string;
  isSelected: boolean;
  /** Whether the Tab key stops here. */
  isReachable: boolean;
  onOpen: () => void;
};

/** A technique: its shade is the coverage, and a mark in its corner says that relevant items mention it. */
function CoverageCell({ technique, state, position, isSelected, isReachable, onOpen }: CellProps) {
  const { id, name, groupScore, threats } = technique;
  const isUnwatched = isUnwatchedThreat(technique);
  return (
    <button
      type="button"
      data-cell={position}
      tabIndex={isReachable ? 0 : -1}
      aria-label={
        texts.cell(name, id, percentOf(groupScore), threats?.items ?? 0) +
        (state ? texts.cellRehearsed(texts.rehearsed[state]) : '')
      }
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
      {state && <RehearsalMark state={state} />}
      {threats && <ThreatMark count={threats.items} isUnwatched={isUnwatched} />}
    </button>
  );
}

const stateColors: Record<RehearsedState, string> = {
  fired: 'border-good bg-good',
  did_not_fire: 'border-high bg-high',
  no_data: 'border-line-strong',
};

/** What the rehearsal showed, which the button's name says in words: filled if there were events, empty without data. */
const RehearsalMark = ({ state }: { state: RehearsedState }) => (
  <span
    aria-hidden
    title={texts.rehearsed[state]}
    className={classes('absolute right-1 bottom-1 size-1.5 rounded-full border', stateColors[state])}
  />
);

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
