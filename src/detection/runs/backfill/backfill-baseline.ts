import { sql } from 'kysely';
import { prepareWindow } from '../../analysis/analyze-window.ts';
import { categories } from '../../analysis/registry.ts';
import { learningWindows, type MemoryEntry } from '../../analysis/memory/memory.ts';
import { writeMemory } from '../../analysis/memory/memory.store.ts';
import { listEarlierWindows } from '../../analysis/memory/memory-windows.store.ts';
import { inOrgByKey, row, type Tx } from '../../../platform/db/db.ts';
import { lastSlot } from '../../../platform/lib/cron/cron.ts';
import { cronOf } from '../../../platform/lib/cron/cron-intervals.ts';
import { fence } from '../../scheduling/run-fence.ts';
import { search } from '../execution/examine-window.ts';
import { timed, warn, type Run, type RunDeps } from '../run-types.ts';

const windowsMax = 200;
const usualMsMax = 60_000;
const atOnce = 2;
const perCommit = 20;

type Window = { from: Date; to: Date };
type Filled = { window: Window; memory: MemoryEntry[] };

/**
 * Before the first window of a generation: the same query over the slot windows before it, on event time, of events
 * ingested before it, the newest first, at most 200 windows: as far back as the category looks, and seven windows at least. Only memory
 * comes of it. What a run cannot fill within 60 s is said, and the next attempt or run goes on.
 */
export async function fillMemory(deps: RunDeps, run: Run, first: Window, signal: AbortSignal): Promise<void> {
  const reachMs = categories[run.analysis.category].reachMs(run.analysis);
  if (reachMs === 0 || run.definition.cronSchedule === null || (await isFilled(deps, run))) return;
  await timed(run.progress, 'fill', async () => {
    const { firstEventAt } = run.connection;
    const { detectionQuery } = run.definition;
    const oldest = firstEventAt ? await firstEventAt(detectionQuery, signal, first.from) : new Date(0);
    // Nothing to learn from yet: the next run looks again.
    if (oldest === null) return;
    const since = new Date(first.from.getTime() - reachMs);
    const past = await missingWindows(deps, run, { first, since, oldest });
    await fillWindows(deps, run, { past, before: first.from }, signal);
  });
}

async function fillWindows(
  deps: RunDeps,
  run: Run,
  { past, before }: { past: Window[]; before: Date },
  signal: AbortSignal,
): Promise<void> {
  const { fillMsMax = usualMsMax } = deps;
  const begun = performance.now();
  let [next, learned] = [0, 0];
  let filled: Filled[] = [];
  for (; next < past.length && performance.now() - begun < fillMsMax; next += atOnce) {
    const found = await Promise.all(
      past.slice(next, next + atOnce).map((window) => fillWindow(run, { window, before }, signal)),
    );
    filled.push(...found.flat());
    learned += found.flat().length;
    if (filled.length < perCommit) continue;
    await store(deps, run, filled, false);
    filled = [];
  }
  const isCut = next < past.length;
  if (isCut)
    warn(run.progress, 'memory_partial', `${past.length - next} earlier windows were not read within the time for it.`);
  // Where none of them can be remembered, going on would only cost every run its time.
  await store(deps, run, filled, !isCut || learned === 0);
}

function isFilled(deps: RunDeps, run: Run): Promise<boolean> {
  const { detectionId, generation } = run.scope;
  return inOrgByKey(deps.db, run.orgId, async (tx) => {
    const found = await row(
      tx,
      sql`select 1 from memory_fills where organization_id = ${run.orgId} and detection_id = ${detectionId} and generation = ${generation}`,
    );
    return found !== undefined;
  });
}

/** The slot windows before the first, newest first, that hold events and that memory does not have yet. */
async function missingWindows(
  deps: RunDeps,
  run: Run,
  { first, since, oldest }: { first: Window; since: Date; oldest: Date },
): Promise<Window[]> {
  const known = await inOrgByKey(deps.db, run.orgId, (tx) => listEarlierWindows(tx, run.scope, first.from, since));
  const starts = new Set(known.map((window) => window.from.getTime()));
  return slotWindowsBefore(run, first.from, run.connection.delayMs).filter(
    ({ from, to }, n) => (from >= since || n < learningWindows) && to > oldest && !starts.has(from.getTime()),
  );
}

function slotWindowsBefore(run: Run, before: Date, delayMs: number): Window[] {
  const cron = cronOf(run.definition.cronSchedule!);
  const windows: Window[] = [];
  let slot = lastSlot(cron, new Date(before.getTime() + delayMs));
  while (slot && windows.length < windowsMax) {
    const previous = lastSlot(cron, new Date(slot.getTime() - 1));
    if (!previous) break;
    windows.push({ from: new Date(previous.getTime() - delayMs), to: new Date(slot.getTime() - delayMs) });
    slot = previous;
  }
  return windows;
}

async function fillWindow(
  run: Run,
  { window, before }: { window: Window; before: Date },
  signal: AbortSignal,
): Promise<Filled[]> {
  const query = { ...window, clock: 'event' as const, ingestedBefore: before };
  const result = await search(run, query, signal);
  // Knowing half of a window is worse than not knowing it.
  if (result.truncated || result.early) return [];
  const { memory } = prepareWindow(result.rows, { ...window, aggregate: result.aggregate }, run.analysis);
  return [{ window, memory }];
}

async function store(deps: RunDeps, run: Run, filled: Filled[], done: boolean): Promise<void> {
  await inOrgByKey(deps.db, run.orgId, async (tx) => {
    await fence(tx, run.claim);
    for (const { window, memory } of filled) await writeMemory(tx, run.scope, { ...window, examined: false }, memory);
    if (done) await markFilled(tx, run, deps.clock());
  });
}

async function markFilled(tx: Tx, run: Run, now: Date): Promise<void> {
  const { detectionId, generation } = run.scope;
  await sql`insert into memory_fills (organization_id, detection_id, generation, filled_at)
    values (${run.orgId}, ${detectionId}, ${generation}, ${now}) on conflict do nothing`.execute(tx);
}
