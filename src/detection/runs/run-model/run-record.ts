import type { Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { emitEvents } from '../../../platform/notifications/emit-events.ts';
import type { EventType, OutgoingEvent } from '../../../platform/notifications/event-types.ts';
import { getCategory } from '../../analysis/registry.ts';
import { type RunScore, scoreAnalystRun } from '../../verdicts/analyst/analyst-score.ts';
import { scoreModelRun } from '../../verdicts/investigation/score.ts';
import type { ActiveRun } from './active-run.ts';
import { countSuppressed, type ExaminedWindow, sumWindows, type SuppressedCounts } from './run-progress.ts';
import type { Run } from './runs.schema.ts';
import { findRun, isAgentDeleted, type RunRow } from './runs.store.ts';

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
    acceptance: JSON.parse(row.acceptance) as Run['acceptance'],
    suppressed: countSuppressed(JSON.parse(row.suppressed) as Partial<SuppressedCounts>, windows),
    warnings: JSON.parse(row.warnings) as Run['warnings'],
    failure: row.failure === null ? null : (JSON.parse(row.failure) as Run['failure']),
    event: row.event === null ? null : (JSON.parse(row.event) as Run['event']),
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

/** Warnings that a criterion of their own covers, or that say nothing about the result. */
const unscoredWarnings = new Set(['learning', 'truncated', 'instructions_unused', 'type_drift', 'follow_ups_limited']);

/** Scores a run, or returns null if there was nothing to judge. `reviewed` counts the hits of the detection that analysts judged. */
export function scoreRun(run: ActiveRun, reviewed: { total: number; right: number }): RunScore | null {
  const { windows, warnings } = run.progress;
  const { rowsTotal, truncated } = sumWindows(run.progress);
  const candidates = windows.reduce((sum, window) => sum + window.candidates, 0);
  if (candidates === 0) return null;
  if (run.model !== 'analyst') {
    return scoreModelRun(run.progress.judging);
  }
  const entities = windows.reduce((sum, window) => sum + window.entities, 0);
  const named = windows.reduce((sum, window) => sum + window.entities * window.namedShare, 0);
  return scoreAnalystRun({
    rowsTotal,
    truncated,
    namedShare: entities === 0 ? 1 : named / entities,
    warnings: warnings.filter((warning) => !unscoredWarnings.has(warning.code)).length,
    usesHistory: getCategory(run.analysis.category).usesHistory,
    learning: warnings.some((warning) => warning.code === 'learning'),
    candidates: windows.flatMap(listCandidateFacts),
    reviewed,
  });
}

function listCandidateFacts({ candidates, enoughPast, candidateRows }: ExaminedWindow) {
  return Array.from({ length: candidates }, (_, index) => ({
    facts: { enoughPast: index < enoughPast, candidateRows: index === 0 ? candidateRows : 0 },
  }));
}

/** The types of the events of runs. */
type RunEventType = Extract<EventType, `run.${string}`>;

/**
 * Emits an event of runs that ended, except those of deleted detections. The revision is the attempt that ended the run, and that of
 * `run.unaccepted` is one more.
 */
export async function emitRunEvents(
  tx: Tx,
  orgId: OrgId,
  { runIds, type }: { runIds: readonly string[]; type: RunEventType },
): Promise<void> {
  await emitEvents(tx, [orgId], [type], async () => {
    const events: OutgoingEvent[] = [];
    for (const runId of runIds) {
      const row = await findRun(tx, orgId, runId);
      if (!row || (await isAgentDeleted(tx, orgId, row.detectionId))) continue;
      const run = toRunRecord(row);
      const { attempt, detectionId } = run;
      const isUnaccepted = type === 'run.unaccepted';
      const revision = isUnaccepted ? attempt + 1 : attempt;
      const data = { organizationId: orgId, ...run, ...(isUnaccepted ? { detail: describeUnmet(run) } : {}) };
      events.push({ orgId, type, resourceId: runId, revision, data, detectionId });
    }
    return events;
  });
}

const describeUnmet = ({ acceptance }: Run): string =>
  acceptance
    .filter(({ isMet }) => !isMet)
    .map(({ criterion, reason }) => `Not met: ${criterion} ${reason}`)
    .join('\n');
