import { sql } from 'kysely';
import { inOrg, queryRow, type Db, type Tx } from '../../../platform/db/db.ts';
import { runInSlices } from '../../../platform/lib/concurrency/slices.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { prepareWindow } from '../../analysis/analyze-window.ts';
import { listEarlierWindows, listExaminedStarts, writeMemory } from '../../analysis/memory/memory.store.ts';
import { learningWindows, type MemoryEntry } from '../../analysis/memory/memory.ts';
import { getCategory } from '../../analysis/registry.ts';
import { fenceRun } from '../../scheduling/run-claim.ts';
import { findBoundaryBefore, listWindowsBefore, type TimeRange, type WindowGrid } from '../../scheduling/timeline.ts';
import type { ActiveRun } from '../run-model/active-run.ts';
import { searchWindow, trialClock } from '../run-model/search-window.ts';
import { timePhase, type RunStep } from '../run-model/run-progress.ts';

/** `baselineMsMax` is the time that one run may spend on the baseline. Default 60,000 ms. */
export type BaselineDeps = { db: Db; clock: Clock; baselineMsMax?: number };

const defaultMsMax = 60_000;
const windowsMax = 200;
const concurrentQueries = 2;
const windowsPerCommit = 20;

type BaselineWindow = { window: TimeRange; memory: MemoryEntry[] };

/**
 * Builds the baseline of a definition before its first window, `first`: runs the query over earlier slot windows and stores
 * only their memory. It reads on event time, latest window first, only events ingested before `first`, as far back as the
 * category compares, but at least seven and at most 200 windows. If time runs out, the run gets a warning and the next attempt
 * or run continues.
 */
export async function* backfillBaseline(
  deps: BaselineDeps,
  run: ActiveRun,
  first: TimeRange,
  signal: AbortSignal,
): RunStep<void> {
  const reachMs = getCategory(run.analysis.category).lookbackMs(run.analysis);
  const { cronSchedule: cron, detectionQuery } = run.definition;
  if (reachMs === 0 || cron === null || (await isBaselineComplete(deps, run))) return;
  yield* timePhase('fill', async function* () {
    const { firstEventAt, delayMs } = run.connection;
    const oldest = firstEventAt ? await firstEventAt(detectionQuery, signal, first.from) : new Date(0);
    // There is nothing to learn from yet. The next run tries again.
    if (oldest === null) return;
    const since = new Date(first.from.getTime() - reachMs);
    const known = await inOrg(deps.db, run.orgId, (tx) => listEarlierWindows(tx, run.scope, first.from, since));
    const knownStarts = new Set(known.map((window) => window.from.getTime()));
    const missing = listCompleteWindows(first.from, { cron, delayMs }).filter(
      ({ from, to }, index) =>
        (from >= since || index < learningWindows) && to > oldest && !knownStarts.has(from.getTime()),
    );
    yield* readWindows(deps, run, { missing, ingestedBefore: first.from, isBaseline: true }, signal);
  });
}

/**
 * Remembers slots before the coverage whose events arrived until `ingestedBefore`, so that the window in which they arrived is compared with all of
 * them. They are examined later. Leaves out those that were examined before.
 */
export async function* rememberEarlierSlots(
  deps: BaselineDeps,
  run: ActiveRun,
  { slots, ingestedBefore }: { slots: TimeRange[]; ingestedBefore: Date },
  signal: AbortSignal,
): RunStep<void> {
  if (getCategory(run.analysis.category).lookbackMs(run.analysis) === 0) return;
  const examined = await inOrg(deps.db, run.orgId, (tx) => listExaminedStarts(tx, run.scope, slots));
  const missing = slots.filter(({ from }) => !examined.has(from.getTime())).toReversed();
  if (missing.length === 0) return;
  yield* timePhase('fill', () => readWindows(deps, run, { missing, ingestedBefore, isBaseline: false }, signal));
}

async function* readWindows(
  deps: BaselineDeps,
  run: ActiveRun,
  { missing, ingestedBefore, isBaseline }: { missing: TimeRange[]; ingestedBefore: Date; isBaseline: boolean },
  signal: AbortSignal,
): RunStep<void> {
  const { baselineMsMax = defaultMsMax } = deps;
  const startMs = performance.now();
  let next = 0;
  let learned = 0;
  let batch: BaselineWindow[] = [];
  for (; next < missing.length && performance.now() - startMs < baselineMsMax; next += concurrentQueries) {
    const queries = missing
      .slice(next, next + concurrentQueries)
      .map((window) => readWindow(run, { window, ingestedBefore }, signal));
    const found = (await Promise.all(queries)).flat();
    batch.push(...found);
    learned += found.length;
    if (batch.length < windowsPerCommit) continue;
    await storeBatch(deps, run, batch, { isComplete: false });
    batch = [];
  }
  const isCut = next < missing.length;
  if (isCut && isBaseline)
    yield {
      code: 'memory_partial',
      detail: `The baseline is incomplete: ${missing.length - next} earlier windows were not read in time.`,
    };
  // If no window could be learned, further attempts would only cost every run its time.
  await storeBatch(deps, run, batch, { isComplete: isBaseline && (!isCut || learned === 0) });
}

function isBaselineComplete({ db }: BaselineDeps, { orgId, scope }: ActiveRun): Promise<boolean> {
  return inOrg(db, orgId, async (tx) => {
    const found = await queryRow(tx)`select 1 from memory_fills
        where organization_id = ${orgId} and detection_id = ${scope.detectionId} and generation = ${scope.generation}`;
    return found !== undefined;
  });
}

/** Returns complete slot windows before a time, latest first. */
function listCompleteWindows(before: Date, grid: WindowGrid): TimeRange[] {
  const end = findBoundaryBefore(before, grid);
  return end ? listWindowsBefore(end, grid, { max: windowsMax }) : [];
}

/** Returns an empty list for a window that was not read completely: partial memory is worse than none. */
async function readWindow(
  run: ActiveRun,
  { window, ingestedBefore }: { window: TimeRange; ingestedBefore: Date },
  signal: AbortSignal,
): Promise<BaselineWindow[]> {
  const result = await searchWindow(run, { ...window, clock: trialClock(run.connection), ingestedBefore }, signal);
  if (result.truncated || result.early) return [];
  const { memory } = await runInSlices(
    prepareWindow(result.rows, { ...window, aggregate: result.aggregate }, run.analysis),
  );
  return [{ window, memory }];
}

async function storeBatch(
  { db, clock }: BaselineDeps,
  run: ActiveRun,
  batch: BaselineWindow[],
  { isComplete }: { isComplete: boolean },
): Promise<void> {
  await inOrg(db, run.orgId, async (tx) => {
    await fenceRun(tx, run.claim);
    for (const { window, memory } of batch) await writeMemory(tx, run.scope, { ...window, examined: false }, memory);
    if (isComplete) await markBaselineComplete(tx, run, clock());
  });
}

async function markBaselineComplete(tx: Tx, { orgId, scope }: ActiveRun, now: Date): Promise<void> {
  await sql`insert into memory_fills (organization_id, detection_id, generation, filled_at)
    values (${orgId}, ${scope.detectionId}, ${scope.generation}, ${now}) on conflict do nothing`.execute(tx);
}
