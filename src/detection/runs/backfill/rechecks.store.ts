import { sql } from 'kysely';
import { acrossOrgs, row, rows, type Db, type Tx } from '../../../platform/db/db.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { insertBackfillRun } from '../requests/request-backfill.store.ts';
import type { Run } from '../run-types.ts';

type Window = { from: Date; to: Date };
type Ref = { orgId: OrgId; detectionId: string };

const detectionsMax = 200;
const triesMax = 5;
const retryMinutes = 15;

/** Notes that a window on event time is to be examined once more, when late rows have come. One that is older than that was late already. */
export async function noteRecheck(tx: Tx, run: Run, window: Window, now: Date): Promise<void> {
  const { delayMs, recheckMs } = run.connection;
  if (recheckMs === undefined || run.clock !== 'event') return;
  const dueAt = new Date(window.to.getTime() + delayMs + recheckMs);
  if (dueAt <= now) return;
  await sql`insert into rechecks (organization_id, detection_id, window_from, window_to, generation, due_at)
    values (${run.orgId}, ${run.detectionId}, ${window.from}, ${window.to}, ${run.scope.generation}, ${dueAt})
    on conflict (organization_id, detection_id, window_from) do update set window_to = excluded.window_to,
      generation = excluded.generation, due_at = excluded.due_at, tries = 0`.execute(tx);
}

/** The windows of a detection that are due to be examined once more, in order. Those examined under an earlier definition are dropped. */
export async function listRechecks(tx: Tx, run: Run, now: Date, limit: number): Promise<Window[]> {
  const due = sql`organization_id = ${run.orgId} and detection_id = ${run.detectionId} and due_at <= ${now}`;
  await sql`delete from rechecks where ${due} and generation <> ${run.scope.generation}`.execute(tx);
  return rows(
    tx,
    sql<Window>`select window_from as "from", window_to as "to" from rechecks where ${due} order by window_from limit ${limit}`,
  );
}

/** False: it was examined once more already. */
export async function takeRecheck(tx: Tx, run: Run, window: Window): Promise<boolean> {
  const taken = await row(
    tx,
    sql`delete from rechecks where organization_id = ${run.orgId} and detection_id = ${run.detectionId} and window_from = ${window.from} returning 1`,
  );
  return taken !== undefined;
}

/** After a run that failed: what it did not come to waits longer each time, and is given up after the fifth. */
export async function postponeRechecks(tx: Tx, { orgId, detectionId }: Ref, now: Date): Promise<void> {
  const due = sql`organization_id = ${orgId} and detection_id = ${detectionId} and due_at <= ${now}`;
  await sql`delete from rechecks where ${due} and tries >= ${triesMax - 1}`.execute(tx);
  await sql`update rechecks set tries = tries + 1, due_at = ${now}::timestamptz + make_interval(mins => ${retryMinutes} * (2 ^ tries)::int)
    where ${due}`.execute(tx);
}

/** What a run that failed did not come to look at again, since the past changed, is examined once more later: its gaps may be filled, so nobody would ask again. */
export async function keepRevisits(tx: Tx, { orgId, detectionId }: Ref, runId: string, now: Date): Promise<void> {
  await sql`insert into rechecks (organization_id, detection_id, window_from, window_to, generation, due_at)
    select organization_id, detection_id, r.window_from, r.window_to, m.generation, ${now}::timestamptz + make_interval(mins => ${retryMinutes})
    from revisits r join memory_windows m using (organization_id, detection_id, window_from)
    where organization_id = ${orgId} and detection_id = ${detectionId} and r.run_id = ${runId} and m.examined
    on conflict do nothing`.execute(tx);
}

/** Queues a run in the lane of backfills for detections with windows to examine once more. Answers how many. */
export async function enqueueRechecksAcrossOrgs(db: Db, now: Date): Promise<number> {
  return acrossOrgs(db, async (tx) => {
    const due = await rows(
      tx,
      sql<Ref & Window>`
        select r.organization_id as "orgId", r.detection_id as "detectionId", min(r.window_from) as "from", max(r.window_to) as "to"
        from rechecks r join agents a on a.organization_id = r.organization_id and a.id = r.detection_id
        where r.due_at <= ${now} and a.deleted_at is null and not exists (
          select from run_queue q where q.organization_id = r.organization_id and q.detection_id = r.detection_id and q.kind = 'backfill')
        group by 1, 2 limit ${detectionsMax}`,
    );
    let queued = 0;
    for (const { orgId, detectionId, ...window } of due) {
      const run = { detectionId, runId: uuidv7(now), now, windows: [window] };
      if (await insertBackfillRun(tx, { orgId, keyId: null }, run)) queued += 1;
    }
    return queued;
  });
}
