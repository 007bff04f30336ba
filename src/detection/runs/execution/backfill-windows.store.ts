import { sql, type RawBuilder } from 'kysely';
import { acrossOrgs, queryRow, queryRows, type Db, type Tx, inOrg } from '../../../platform/db/db.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import type { DetectionKey, TimeRange } from '../../scheduling/timeline.ts';
import type { ActiveRun } from '../run-model/active-run.ts';
import { insertRequestedRun } from '../run-model/runs.store.ts';
import { getCategory } from '../../analysis/registry.ts';
import { listRevisitCandidates } from '../../analysis/memory/memory.store.ts';
import { findWindowsToRevisit } from '../../analysis/analyze-window.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { claimFill, listGapWindows, lockDueFills } from '../../scheduling/fill-gaps.store.ts';
import type { RepeatReason, WindowTask } from '../run-model/search-window.ts';

const detectionsMax = 200;
const triesMax = 5;
const retryMinutes = 15;

/** Schedules a second examination of a window on event time, after its late rows. Does nothing if that time has passed. */
export async function scheduleRecheck(tx: Tx, run: ActiveRun, window: TimeRange, now: Date): Promise<void> {
  const { delayMs, recheckMs } = run.connection;
  if (recheckMs === undefined || run.clock !== 'event') return;
  const dueAt = new Date(window.to.getTime() + delayMs + recheckMs);
  if (dueAt <= now) return;
  await sql`insert into rechecks (organization_id, detection_id, window_from, window_to, generation, due_at)
    values (${run.orgId}, ${run.detectionId}, ${window.from}, ${window.to}, ${run.scope.generation}, ${dueAt})
    on conflict (organization_id, detection_id, window_from) do update set window_to = excluded.window_to,
      generation = excluded.generation, due_at = excluded.due_at, tries = 0`.execute(tx);
}

const isDue = ({ orgId, detectionId }: DetectionKey, now: Date): RawBuilder<unknown> =>
  sql`organization_id = ${orgId} and detection_id = ${detectionId} and due_at <= ${now}`;

/** Returns the windows that are due for a recheck, in order. Deletes rechecks of windows examined under an earlier definition. */
async function listDueRechecks(tx: Tx, run: ActiveRun, now: Date, limit: number): Promise<TimeRange[]> {
  await sql`delete from rechecks where ${isDue(run, now)} and generation <> ${run.scope.generation}`.execute(tx);
  return queryRows<TimeRange>(tx)`
      select window_from as "from", window_to as "to" from rechecks where ${isDue(run, now)} order by window_from limit ${limit}`;
}

/** Returns false if the window was already rechecked. */
export async function deleteRecheck(tx: Tx, run: ActiveRun, { from }: TimeRange): Promise<boolean> {
  const deleted = await queryRow(tx)`
    delete from rechecks where organization_id = ${run.orgId} and detection_id = ${run.detectionId} and window_from = ${from} returning 1`;
  return deleted !== undefined;
}

/** Postpones the due rechecks of a detection after a failed run, longer after each try. Abandons them after the fifth. */
export async function postponeRechecks(tx: Tx, detection: DetectionKey, now: Date): Promise<void> {
  await sql`delete from rechecks where ${isDue(detection, now)} and tries >= ${triesMax - 1}`.execute(tx);
  await sql`update rechecks set tries = tries + 1, due_at = ${now}::timestamptz + make_interval(mins => ${retryMinutes} * (2 ^ tries)::int)
    where ${isDue(detection, now)}`.execute(tx);
}

/** Schedules the revisits that a failed run did not do as rechecks. Its gaps may be filled, so no later run would do them. */
export async function convertRevisitsToRechecks(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  runId: string,
  now: Date,
): Promise<void> {
  await sql`insert into rechecks (organization_id, detection_id, window_from, window_to, generation, due_at)
    select organization_id, detection_id, r.window_from, r.window_to, m.generation, ${now}::timestamptz + make_interval(mins => ${retryMinutes})
    from revisits r join memory_windows m using (organization_id, detection_id, window_from)
    where organization_id = ${orgId} and detection_id = ${detectionId} and r.run_id = ${runId} and m.examined
    on conflict do nothing`.execute(tx);
}

/** Queues a backfill for each detection with due rechecks, or with a gap to fill without a request. Returns how many were queued. */
export async function enqueueRechecksAcrossOrgs(db: Db, now: Date): Promise<number> {
  return acrossOrgs(db, async (tx) => {
    const due = await queryRows<DetectionKey & TimeRange>(tx)`
        select r.organization_id as "orgId", r.detection_id as "detectionId", min(r.window_from) as "from", max(r.window_to) as "to"
        from rechecks r join agents a on a.organization_id = r.organization_id and a.id = r.detection_id
        where r.due_at <= ${now} and a.deleted_at is null and not exists (
          select from run_queue q where q.organization_id = r.organization_id and q.detection_id = r.detection_id and q.kind = 'backfill')
        group by 1, 2 limit ${detectionsMax}`;
    let queued = 0;
    for (const { orgId, detectionId, from, to } of due) {
      const run = { detectionId, runId: uuidv7(now), kind: 'backfill' as const, now, window: { from, to } };
      if (await insertRequestedRun(tx, { orgId, keyId: null }, run)) queued += 1;
    }
    for (const gap of await lockDueFills(tx, now, detectionsMax)) {
      const { orgId, detectionId, from, to } = gap;
      const run = { detectionId, runId: uuidv7(now), kind: 'backfill' as const, now, window: { from, to } };
      if (!(await insertRequestedRun(tx, { orgId, keyId: null }, run))) continue;
      await claimFill(tx, gap, run.runId, now);
      queued += 1;
    }
    return queued;
  });
}

/**
 * Records that the memory of a window was added or replaced after later windows were examined: runs that compare with the past
 * notice the new epoch, and the run must revisit the examined windows whose comparison the window affects.
 */
export async function recordPastChange(tx: Tx, run: ActiveRun, changed: TimeRange): Promise<void> {
  await sql`update schedules set memory_epoch = memory_epoch + 1
    where organization_id = ${run.orgId} and detection_id = ${run.detectionId}`.execute(tx);
  const reachMs = getCategory(run.analysis.category).lookbackMs(run.analysis);
  const known = await listRevisitCandidates(tx, run.scope, changed, reachMs);
  const examined = new Set(known.filter((window) => window.examined).map((window) => window.from.getTime()));
  const affected = findWindowsToRevisit(changed, known, run.analysis).filter(({ from }) =>
    examined.has(from.getTime()),
  );
  if (affected.length === 0) return;
  await sql`insert into revisits (organization_id, detection_id, run_id, window_from, window_to)
    select ${run.orgId}::uuid, ${run.detectionId}::uuid, ${run.id}::uuid, * from unnest(
      ${affected.map(({ from }) => from.toISOString())}::timestamptz[], ${affected.map(({ to }) => to.toISOString())}::timestamptz[])
    on conflict do nothing`.execute(tx);
}

type RunKey = DetectionKey & { id: string };

const isRevisitOf = ({ orgId, detectionId, id }: RunKey): RawBuilder<unknown> =>
  sql`organization_id = ${orgId} and detection_id = ${detectionId} and run_id = ${id}`;

/** Returns the windows that a run must revisit, in order. */
function listRevisits(tx: Tx, run: RunKey, limit: number): Promise<TimeRange[]> {
  return queryRows<TimeRange>(tx)`
      select window_from as "from", window_to as "to" from revisits where ${isRevisitOf(run)} order by window_from limit ${limit}`;
}

/** Returns false if the window was already revisited. */
export async function deleteRevisit(tx: Tx, run: RunKey, { from }: TimeRange): Promise<boolean> {
  const deleted = await queryRow(tx)`
    delete from revisits where ${isRevisitOf(run)} and window_from = ${from} returning 1`;
  return deleted !== undefined;
}

const selectMemoryEpoch = ({ orgId, detectionId }: DetectionKey): RawBuilder<{ epoch: number }> =>
  sql<{ epoch: number }>`
    select memory_epoch as epoch from schedules where organization_id = ${orgId} and detection_id = ${detectionId}`;

/** Returns the version of a detection's past, which each change increases. */
export async function findMemoryEpoch(tx: Tx, detection: DetectionKey): Promise<number> {
  return (await queryRow<{ epoch: number }>(tx)`${selectMemoryEpoch(detection)}`)?.epoch ?? 0;
}

/** Like `findMemoryEpoch`. The past does not change until the transaction ends. */
export async function lockMemoryEpoch(tx: Tx, detection: DetectionKey): Promise<number> {
  return (await queryRow<{ epoch: number }>(tx)`${selectMemoryEpoch(detection)} for share`)?.epoch ?? 0;
}

/** Returns the windows that a backfill still has to examine, in order: those of its gaps, due rechecks, and revisits. */
export async function listBackfillWindows(tx: Tx, run: ActiveRun, now: Date, limit: number): Promise<WindowTask[]> {
  const tasks: WindowTask[] = await listOwnGapWindows(tx, run, limit);
  const add = (windows: TimeRange[], repeat: RepeatReason): void => {
    for (const window of windows) tasks.push({ ...window, repeat });
  };
  if (tasks.length < limit) add(await listDueRechecks(tx, run, now, limit - tasks.length), 'recheck');
  if (tasks.length < limit) add(await listRevisits(tx, run, limit - tasks.length), 'revisit');
  return tasks;
}

async function listOwnGapWindows(tx: Tx, run: ActiveRun, limit: number): Promise<TimeRange[]> {
  const { cronSchedule: cron } = run.definition;
  if (cron === null) return [];
  return listGapWindows(tx, run, { runId: run.id, grid: { cron, delayMs: run.connection.delayMs }, limit });
}

/** Returns whether a run is a backfill with windows left. Each claim examines a bounded number, so that other runs get their turn. */
export async function hasBackfillWindows({ db, clock }: { db: Db; clock: Clock }, run: ActiveRun): Promise<boolean> {
  if (run.trigger !== 'backfill') return false;
  const left = await inOrg(db, run.orgId, (tx) => listBackfillWindows(tx, run, clock(), 1));
  return left.length > 0;
}
