import type { Db } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { minLookbackMs } from '../../../platform/lib/time/cron.ts';
import type { Models } from '../../../platform/models/models.ts';
import { categories } from '../../analysis/registry.ts';
import type { Definition } from '../../detections/record/definition.ts';
import type { RunClaim } from '../../scheduling/queue/run-claim.ts';
import { subtractMs } from '../../scheduling/slot-windows.ts';
import { selectsLogStore } from '../../siem/connection-selector.ts';
import type { QueryWindow, SearchResult } from '../../siem/connector.ts';
import { emptyVerdictStats } from '../../verdicts/model/model-score.ts';
import { findArrival } from '../backfill/late-slots.ts';
import type { ActiveRun } from '../execution/active-run.ts';
import { analyzeResult } from '../execution/windows/examine-window.ts';
import { searchLimits, toQueryWindow } from '../execution/windows/search-window.ts';
import { noneSuppressed } from '../execution/run-progress.ts';
import { toActiveRun } from '../execution/start-run.ts';
import type { QuietRun, UntouchedRunRow } from './quiet-runs.store.ts';

type ExamineDeps = { db: Db; clock: Clock; models?: Models };

/** A run that waits in the queue, with the window of its query. */
type QueuedRun = QuietRun & { coveredTo: Date | null; queryWindow: QueryWindow };

/** Returns the runs that are searched together with `like` and compare nothing with the past. */
export async function toQueuedRuns(
  deps: ExamineDeps,
  { like, group }: { like: ActiveRun; group: string },
  rows: readonly UntouchedRunRow[],
): Promise<QueuedRun[]> {
  const { orgId, connection } = like;
  const now = deps.clock();
  const queued: QueuedRun[] = [];
  for (const row of rows) {
    const definition = JSON.parse(row.definition) as Definition;
    // A window beyond the look-back becomes a gap.
    if (row.slotAt < subtractMs(now, minLookbackMs(row.lookbackMinutes))) continue;
    if (!selectsLogStore(orgId, definition)) continue;
    if ((await connection.together!.groupOf(definition.detectionQuery)) !== group) continue;
    const run = toActiveRun(deps, toClaim(like, row), {
      row: { ...emptyRun, ...row, startedAt: now, windowFrom: row.from, windowTo: row.to },
      definition,
      connection,
    });
    if (categories[run.analysis.category].lookbackMs(run.analysis) > 0) continue;
    const { revision, coveredTo, from, to } = row;
    queued.push({ run, revision, coveredTo, queryWindow: toQueryWindow(run, { from, to }, now) });
  }
  return queued;
}

/** The stored state of a run before its first attempt. */
const emptyRun = {
  trigger: 'schedule' as const,
  customInstructions: null,
  elapsedMs: 0,
  tokens: 0,
  costUsd: 0,
  cancelRequested: false,
  onEventTime: false,
  deleted: false,
  active: true,
  hasPendingCandidates: false,
  hasRaisedCandidates: false,
  pending: [],
  windows: '[]',
  entities: '[]',
  warnings: '[]',
  phases: '[]',
  judging: JSON.stringify(emptyVerdictStats),
  suppressed: JSON.stringify(noneSuppressed),
};

const toClaim = ({ orgId }: ActiveRun, { runId, detectionId, dueAt }: UntouchedRunRow): RunClaim => ({
  orgId,
  runId,
  detectionId,
  kind: 'schedule',
  dueAt,
  attempt: 1,
  retries: 0,
  worker: '',
  modelAlias: null,
  resumed: false,
});

/** Searches the windows of runs together. Returns those without rows and late events, with their window examined. */
export async function examineQuietRuns(
  deps: ExamineDeps,
  queued: readonly QueuedRun[],
  signal: AbortSignal,
): Promise<QuietRun[]> {
  const findsLateEvents = createLateCheck(signal);
  const quiet: QuietRun[] = [];
  for (const sameWindow of Map.groupBy(queued, ({ queryWindow }) => JSON.stringify(queryWindow)).values()) {
    const { run: first, queryWindow } = sameWindow[0]!;
    const queries = sameWindow.map(({ run }) => run.definition.detectionQuery);
    const began = performance.now();
    const results = await first.connection.together!.search(queries, queryWindow, searchLimits, signal);
    const ms = Math.round(((performance.now() - began) / queries.length) * 10) / 10;
    for (const [index, one] of sameWindow.entries()) {
      const result = results[index];
      if (!result || result.total > 0 || result.truncated || (await findsLateEvents(one))) continue;
      one.run.progress.phases.push({ name: 'query', ms });
      if (await examineEmptyWindow(deps, one.run, result)) quiet.push(one);
    }
  }
  return quiet;
}

/** Returns a function that reports whether earlier windows have events that arrived since the last covered one. Queries once for each time range. */
function createLateCheck(signal: AbortSignal): (queued: QueuedRun) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>();
  return ({ run, coveredTo }) => {
    const window = { from: run.windowFrom!, to: run.windowTo! };
    const arrival = findArrival(run, window, coveredTo);
    const { lateEvents } = run.connection;
    if (!arrival || !lateEvents) return Promise.resolve(false);
    const key = JSON.stringify([arrival, window.from]);
    const found =
      known.get(key) ??
      lateEvents
        .find(run.definition.detectionQuery, arrival, signal)
        .then((late) => late.some(({ from }) => from < window.from));
    known.set(key, found);
    return found;
  };
}

/** Adds the examined window to the progress of a run. Returns false if the window means more than that there is nothing to report. */
async function examineEmptyWindow(deps: ExamineDeps, run: ActiveRun, result: SearchResult): Promise<boolean> {
  const window = { from: run.windowFrom!, to: run.windowTo! };
  const { candidates, memory, examined } = await analyzeResult(deps, run, window, { result, lateSlots: [] });
  if (candidates.length > 0 || memory !== null) return false;
  run.progress.windows.push(examined);
  return true;
}
