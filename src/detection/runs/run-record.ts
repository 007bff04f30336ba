import { countSuppressed, type ExaminedWindow, type SuppressedCounts } from './execution/run-progress.ts';
import type { RunRow } from './read-runs.store.ts';
import type { Run } from './runs.schema.ts';

const toIso = (time: Date | null): string | null => time?.toISOString() ?? null;

/** Converts a row of `runs` to the run of the API. */
export function toRunRecord({ dueAt: _dueAt, judging: _judging, onEventTime, ...row }: RunRow): Run {
  const windows = JSON.parse(row.windows) as ExaminedWindow[];
  return {
    ...row,
    slotAt: toIso(row.slotAt),
    windowFrom: toIso(row.windowFrom),
    windowTo: toIso(row.windowTo),
    clock: onEventTime ? 'event' : 'ingest',
    windows: windows.map(({ from, to, rowsTotal, truncated, candidates }) => ({
      from,
      to,
      rowsTotal,
      truncated,
      candidates,
    })),
    startedAt: toIso(row.startedAt),
    finishedAt: toIso(row.finishedAt),
    phases: JSON.parse(row.phases) as Run['phases'],
    entities: JSON.parse(row.entities) as Run['entities'],
    unscored: findUnscoredReason(row, windows),
    scoreCriteria: JSON.parse(row.scoreCriteria) as Run['scoreCriteria'],
    suppressed: countSuppressed(JSON.parse(row.suppressed) as Partial<SuppressedCounts>, windows),
    warnings: JSON.parse(row.warnings) as Run['warnings'],
    failure: row.failure === null ? null : (JSON.parse(row.failure) as Run['failure']),
  };
}

/** Returns why a run has no score, or null if it has one. */
function findUnscoredReason(
  { score, status, rowsTotal }: Pick<RunRow, 'score' | 'status' | 'rowsTotal'>,
  windows: Run['windows'],
): Run['unscored'] {
  if (score !== null) return null;
  if (status !== 'completed') return 'not_completed';
  if (rowsTotal === 0) return 'no_rows';
  return windows.every(({ candidates }) => candidates === 0) ? 'no_candidates' : 'too_few_criteria';
}
