import { LRUCache } from 'lru-cache';
import { inOrg, type Db } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { Logger } from '../../../platform/lib/logging/logger.ts';
import type { Models } from '../../../platform/models/models.ts';
import { coverWindows } from '../../scheduling/coverage.store.ts';
import type { ActiveRun } from '../run-model/active-run.ts';
import { emitRunEvents } from '../run-model/run-events.ts';
import {
  finishQuietRuns,
  listUntouchedRuns,
  lockUntouchedRuns,
  type QuietRun,
  type UntouchedRunRow,
} from './quiet-runs.store.ts';
import { minLookbackMs } from '../../../platform/lib/time/cron.ts';
import { getCategory } from '../../analysis/registry.ts';
import type { Definition } from '../../detections/record/detection-record.ts';
import type { RunClaim } from '../../scheduling/run-claim.ts';
import { subtractMs } from '../../scheduling/timeline.ts';
import { selectsLogStore, type QueryWindow } from '../../siem/connector.ts';
import { emptyVerdictStats } from '../../verdicts/investigation/score.ts';
import { findArrival } from '../execution/late-slots.ts';
import { analyzeResult } from '../execution/examine-window.ts';
import { searchLimits, toQueryWindow } from '../run-model/search-window.ts';
import { noneSuppressed, runStep } from '../run-model/run-progress.ts';
import { toActiveRun } from '../execution/start-run.ts';

type QuietRunsDeps = {
  db: Db;
  clock: Clock;
  log: Logger;
  models?: Models;
  observeRun?: (run: ActiveRun) => void;
};

/** Completes runs that find nothing many at a time. */
export type QuietRuns = {
  /**
   * Completes the queued runs of the slot of `run` whose queries are searched together with its query and return nothing, whatever their spread
   * start. All other runs stay in the queue. Returns the number of completed runs. Never throws: runs that are not completed stay in the queue.
   */
  completeLike: (run: ActiveRun, signal: AbortSignal) => Promise<number>;
};

const runsPerBatch = 250;
const passesMax = 1000;

/**
 * The runs of a slot that were tried and are not completed. Each is tried once, and those that are queued later in the next pass: the order of
 * their ids says nothing, because a change of a schedule queues the run of a slot by itself.
 */
type Pass = { tried: Set<string>; isRunning: boolean };

export function createQuietRuns(deps: QuietRunsDeps): QuietRuns {
  const passes = new LRUCache<string, Pass>({ max: passesMax });
  return {
    async completeLike(run, signal) {
      const { orgId, claim, connection, trigger, definition } = run;
      if (!connection.together || trigger !== 'schedule' || run.clock === 'event') return 0;
      let completed = 0;
      let pass: Pass | undefined;
      try {
        const group = await connection.together.groupOf(definition.detectionQuery);
        if (group === undefined) return 0;
        const key = JSON.stringify([orgId, claim.dueAt, group]);
        const known = passes.get(key) ?? { tried: new Set<string>(), isRunning: false };
        if (known.isRunning) return 0;
        pass = known;
        pass.isRunning = true;
        passes.set(key, pass);
        for (;;) {
          const page = { dueAt: claim.dueAt, tried: [...pass.tried], limit: runsPerBatch, now: deps.clock() };
          const rows = await inOrg(deps.db, orgId, (tx) => listUntouchedRuns(tx, orgId, page));
          if (rows.length === 0) return completed;
          for (const { runId } of rows) pass.tried.add(runId);
          const queued = await toQueuedRuns(deps, { like: run, group }, rows);
          const stored = await storeQuietRuns(deps, run, await examineQuietRuns(deps, queued, signal));
          for (const id of stored) pass.tried.delete(id);
          completed += stored.length;
        }
      } catch (error) {
        if (!signal.aborted) deps.log.error({ err: error }, 'could not complete runs without rows together');
        return completed;
      } finally {
        if (pass) pass.isRunning = false;
      }
    },
  };
}

/** Stores runs in one transaction, except those that another worker has claimed meanwhile. Returns the ids of those that were stored. */
async function storeQuietRuns(
  { db, clock, observeRun }: QuietRunsDeps,
  { orgId }: ActiveRun,
  quiet: readonly QuietRun[],
): Promise<string[]> {
  if (quiet.length === 0) return [];
  const stored = await inOrg(db, orgId, async (tx) => {
    const runIds = quiet.map(({ run }) => run.id);
    const locked = await lockUntouchedRuns(tx, orgId, runIds);
    const windows = quiet
      .filter(({ run }) => locked.has(run.id))
      .map(({ run: { detectionId, windowFrom, windowTo } }) => ({ detectionId, from: windowFrom!, to: windowTo! }));
    const covered = await coverWindows(tx, orgId, windows);
    const runs = quiet.filter(({ run }) => locked.has(run.id) && covered.has(run.detectionId));
    await finishQuietRuns(tx, orgId, runs, clock());
    await emitRunEvents(tx, orgId, { runIds: runs.map(({ run }) => run.id), type: 'run.completed' });
    return runs;
  });
  for (const { run } of stored) observeRun?.(run);
  return stored.map(({ run }) => run.id);
}

type ExamineDeps = { db: Db; clock: Clock; models?: Models };

/** A run that waits in the queue, with the window of its query. */
type QueuedRun = QuietRun & { coveredTo: Date | null; queryWindow: QueryWindow };

/** Returns the runs that are searched together with `like` and compare nothing with the past. */
async function toQueuedRuns(
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
    if (getCategory(run.analysis.category).lookbackMs(run.analysis) > 0) continue;
    const { revision, coveredTo, from, to } = row;
    queued.push({ run, revision, coveredTo, queryWindow: toQueryWindow(run, { from, to }, now) });
  }
  return queued;
}

/** The stored state of a run before its first attempt. */
const emptyRun = {
  trigger: 'schedule' as const,
  customInstructions: null,
  event: null,
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
  phase: 'examine',
  failure: null,
  resumed: false,
});

/** Searches the windows of runs together. Returns those without rows and late events, with their window examined. */
async function examineQuietRuns(
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
      const { run } = one;
      const result = results[index];
      if (!result || result.total > 0 || result.truncated || (await findsLateEvents(one))) continue;
      run.progress.phases.push({ name: 'query', ms });
      const window = { from: run.windowFrom!, to: run.windowTo! };
      const step = analyzeResult(deps, run, window, { result, lateSlots: [] });
      const { candidates, memory, examined } = await runStep(run, step);
      // There is something to report or to remember.
      if (candidates.length > 0 || memory !== null) continue;
      run.progress.windows.push(examined);
      quiet.push(one);
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
