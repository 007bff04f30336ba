import { sql, type RawBuilder } from 'kysely';
import { acrossOrgs, queryRow, queryRows, type Db, type Tx } from '../../../platform/db/db.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import type { DetectionKey } from '../../scheduling/detection-key.ts';
import type { TimeRange } from '../../scheduling/slot-windows.ts';
import type { ActiveRun } from '../execution/active-run.ts';
import { insertRequestedRun } from '../requests/requested-runs.store.ts';

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
export async function listDueRechecks(tx: Tx, run: ActiveRun, now: Date, limit: number): Promise<TimeRange[]> {
  await sql`delete from rechecks where ${isDue(run, now)} and generation <> ${run.scope.generation}`.execute(tx);
  return queryRows<TimeRange>(tx)`
      select window_from as "from", window_to as "to" from rechecks where ${isDue(run, now)} order by window_from limit ${limit}`;
}

/** Returns false if the window was already rechecked. */
export async function deleteRecheck(tx: Tx, run: ActiveRun, { from }: TimeRange): Promise<boolean> {
  const deleted = await queryRow(
    tx,
  )`delete from rechecks where organization_id = ${run.orgId} and detection_id = ${run.detectionId} and window_from = ${from} returning 1`;
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

/** Queues a backfill for each detection with due rechecks. Returns how many were queued. */
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
    return queued;
  });
}
