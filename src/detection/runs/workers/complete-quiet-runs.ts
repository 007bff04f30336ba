import { inOrg, type Db } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { Logger } from '../../../platform/lib/logging/logger.ts';
import { minLookbackMs } from '../../../platform/lib/time/cron.ts';
import type { Models } from '../../../platform/models/models.ts';
import { getCategory } from '../../analysis/registry.ts';
import type { ConnectionFor } from '../../connections/open-connection.ts';
import type { Definition } from '../../detections/record/detection-record.ts';
import { coverClaimedWindows } from '../../scheduling/coverage.store.ts';
import type { RunClaim } from '../../scheduling/run-claim.ts';
import { subtractMs } from '../../scheduling/timeline.ts';
import {
  selectsLogStore,
  type QueryWindow,
  type SearchResult,
  type SharedResult,
  type SiemConnection,
} from '../../siem/connector.ts';
import { emptyVerdictStats } from '../../verdicts/investigation/score.ts';
import { analyzeResult } from '../execution/examine-window.ts';
import { findArrival } from '../execution/late-slots.ts';
import { toActiveRun } from '../execution/start-run.ts';
import type { ActiveRun } from '../run-model/active-run.ts';
import { emitRunEvents } from '../run-model/run-record.ts';
import { noneSuppressed, runStep } from '../run-model/run-progress.ts';
import { findGrouping, searchLimits, toQueryWindow } from '../run-model/search-window.ts';
import { finishQuietRuns, listBatchRuns, type BatchRunRow, type QuietRun } from './batch.store.ts';

type QuietRunsDeps = {
  db: Db;
  clock: Clock;
  log: Logger;
  connectionFor: ConnectionFor;
  models?: Models;
  observeRun?: (run: ActiveRun) => void;
};

/** What the query of a run returned in a batch. */
export type KnownResult = { query: string; window: QueryWindow; result: SearchResult };

/** A run of a batch with the window of its query. */
type BatchRun = QuietRun & { coveredTo: Date | null; queryWindow: QueryWindow };

/**
 * Searches the windows of a batch together and completes the runs that find nothing. Returns their IDs, and what the queries of other runs
 * returned, by run. A run that is in neither has to be executed alone. Writes nothing about those. Does not throw if the search fails.
 */
export async function completeQuietRuns(
  deps: QuietRunsDeps,
  claims: readonly RunClaim[],
  signal: AbortSignal,
): Promise<{ completed: ReadonlySet<string>; found: ReadonlyMap<string, KnownResult> }> {
  const found = new Map<string, KnownResult>();
  const { orgId } = claims[0]!;
  try {
    const rows = await inOrg(deps.db, orgId, (tx) => listBatchRuns(tx, orgId, { claims, now: deps.clock() }));
    const connection = await findConnection(deps, claims[0]!, rows);
    if (!connection?.searchTogether) return { completed: new Set(), found };
    const runs = await startRuns(deps, { claims, rows, connection }, signal);
    const results = await searchRuns(connection.searchTogether, runs, signal);
    const quiet: QuietRun[] = [];
    for (const [index, one] of runs.entries()) {
      const shared = results[index];
      if (!shared) continue;
      if (await isQuiet(deps, one.run, shared)) quiet.push(one);
      else
        found.set(one.run.id, {
          query: one.run.definition.detectionQuery,
          window: one.queryWindow,
          result: shared.result,
        });
    }
    return { completed: await storeQuietRuns(deps, orgId, quiet), found };
  } catch (error) {
    if (!signal.aborted) deps.log.error({ err: error }, 'could not execute runs together');
    return { completed: new Set(), found: new Map() };
  }
}

/** Returns the connection that all runs of a batch have: the embedded log store. */
async function findConnection(
  { connectionFor }: QuietRunsDeps,
  { orgId }: RunClaim,
  [first]: readonly BatchRunRow[],
): Promise<SiemConnection | undefined> {
  if (!first) return undefined;
  const definition = JSON.parse(first.definition) as Definition;
  return selectsLogStore(orgId, definition) ? connectionFor(orgId, definition) : undefined;
}

type StartOptions = { claims: readonly RunClaim[]; rows: readonly BatchRunRow[]; connection: SiemConnection };

async function startRuns(
  deps: QuietRunsDeps,
  { claims, rows, connection }: StartOptions,
  signal: AbortSignal,
): Promise<BatchRun[]> {
  const now = deps.clock();
  const claimOf = new Map(claims.map((claim) => [claim.runId, claim]));
  const runs: BatchRun[] = [];
  for (const row of rows) {
    const definition = JSON.parse(row.definition) as Definition;
    const claim = claimOf.get(row.runId)!;
    // A window beyond the look-back becomes a gap.
    if (row.slotAt < subtractMs(now, minLookbackMs(row.lookbackMinutes))) continue;
    if (!selectsLogStore(claim.orgId, definition)) continue;
    const run = toActiveRun(deps, claim, {
      row: { ...emptyRun, ...row, startedAt: now, windowFrom: row.from, windowTo: row.to },
      definition,
      connection,
    });
    const { revision, coveredTo, from, to } = row;
    run.groupsEvents = await findGrouping(run, [{ from, to }], signal);
    runs.push({ run, revision, coveredTo, queryWindow: toQueryWindow(run, { from, to }, now) });
  }
  return runs;
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

/** Searches the windows of runs. The time of the search is divided among them. */
async function searchRuns(
  searchTogether: NonNullable<SiemConnection['searchTogether']>,
  runs: readonly BatchRun[],
  signal: AbortSignal,
): Promise<(SharedResult | undefined)[]> {
  const began = performance.now();
  const requests = runs.map(({ run, queryWindow, coveredTo }) => ({
    query: run.definition.detectionQuery,
    window: queryWindow,
    arrival: findArrival(run, windowOf(run), coveredTo),
  }));
  const results = await searchTogether(requests, searchLimits, signal);
  const ms = Math.round(((performance.now() - began) / Math.max(runs.length, 1)) * 10) / 10;
  for (const { run } of runs) run.progress.phases.push({ name: 'query', ms });
  return results;
}

const windowOf = ({ windowFrom, windowTo }: ActiveRun) => ({ from: windowFrom!, to: windowTo! });

/** Returns whether a run has nothing to report and nothing to remember. Its window is then examined. */
async function isQuiet(deps: QuietRunsDeps, run: ActiveRun, { result, hasLate }: SharedResult): Promise<boolean> {
  if (hasLate || result.total > 0 || result.truncated) return false;
  if (getCategory(run.analysis.category).lookbackMs(run.analysis) > 0) return false;
  const step = analyzeResult(deps, run, windowOf(run), { result, lateSlots: [] });
  const { candidates, memory, examined } = await runStep(run, step);
  if (candidates.length > 0 || memory !== null) return false;
  run.progress.windows.push(examined);
  return true;
}

/** Stores runs in one fenced transaction. Returns the IDs of those that were stored: not those that were cancelled or lost meanwhile. */
async function storeQuietRuns(
  { db, clock, observeRun }: QuietRunsDeps,
  orgId: RunClaim['orgId'],
  quiet: readonly QuietRun[],
): Promise<Set<string>> {
  if (quiet.length === 0) return new Set();
  const stored = await inOrg(db, orgId, async (tx) => {
    const windows = quiet.map(({ run }) => ({ claim: run.claim, ...windowOf(run) }));
    const covered = await coverClaimedWindows(tx, orgId, windows);
    const runs = quiet.filter(({ run }) => covered.has(run.detectionId));
    await finishQuietRuns(tx, orgId, runs, clock());
    await emitRunEvents(tx, orgId, { runIds: runs.map(({ run }) => run.id), type: 'run.completed' });
    return runs;
  });
  for (const { run } of stored) observeRun?.(run);
  return new Set(stored.map(({ run }) => run.id));
}
