import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { insertQueueEntries } from '../scheduling/run-queue.store.ts';
import type { DetectionKey, TimeRange } from '../scheduling/timeline.ts';

/** Stores a window by arrival in which events match detections, and queues a continuous run of each that examines it. */
export async function insertMatchedWindows(
  tx: Tx,
  orgId: OrgId,
  {
    window,
    matches,
    now,
  }: {
    window: TimeRange & { arrivedAt: Date };
    matches: readonly { detectionId: string; events: number }[];
    now: Date;
  },
): Promise<void> {
  if (matches.length === 0) return;
  const ids = matches.map(({ detectionId }) => detectionId);
  await sql`
    insert into matched_windows (organization_id, detection_id, window_from, window_to, arrived_at, events)
    select ${orgId}::uuid, detection_id, ${window.from}::timestamptz, ${window.to}::timestamptz, ${window.arrivedAt}::timestamptz, events
    from unnest(${ids}::uuid[], ${matches.map(({ events }) => events)}::int[]) as m (detection_id, events)
    on conflict do nothing`.execute(tx);
  await queueContinuousRuns(tx, orgId, { detectionIds: ids, now });
}

/** Queues a continuous run of each detection that has none that no worker has begun. */
async function queueContinuousRuns(
  tx: Tx,
  orgId: OrgId,
  { detectionIds, now }: { detectionIds: readonly string[]; now: Date },
): Promise<void> {
  const entries = detectionIds.map((detectionId) => {
    const runId = uuidv7(now);
    return { orgId, runId, detectionId, dueAt: now, startAt: now, connectionId: null };
  });
  const queued = await insertQueueEntries(tx, 'continuous', entries);
  const runs = entries.filter(({ runId }) => queued.has(runId));
  await sql`
    insert into runs (organization_id, id, detection_id, due_at, trigger, status)
    select ${orgId}::uuid, id, detection_id, ${now}::timestamptz, 'continuous', 'queued'
    from unnest(${runs.map(({ runId }) => runId)}::uuid[], ${runs.map(({ detectionId }) => detectionId)}::uuid[]) as r (id, detection_id)`.execute(
    tx,
  );
}

/** Queues runs for windows that a run left, because they were stored while it ended. Returns whether there were any. */
export async function requeueMatchedWindows(tx: Tx, orgId: OrgId, now: Date): Promise<boolean> {
  const left = await queryRows<{ id: string }>(tx)`
    select distinct w.detection_id as id from matched_windows w
    where w.organization_id = ${orgId} and not exists (select from run_queue q where q.organization_id = w.organization_id
      and q.detection_id = w.detection_id and q.kind = 'continuous' and q.phase = 'examine') order by 1 limit 100`;
  if (left.length > 0) await queueContinuousRuns(tx, orgId, { detectionIds: left.map(({ id }) => id), now });
  return left.length > 0;
}

/** Returns the oldest windows that the next continuous run of a detection examines. */
export function listMatchedWindows(tx: Tx, { orgId, detectionId }: DetectionKey, limit: number): Promise<TimeRange[]> {
  return queryRows<TimeRange>(tx)`
    select window_from as "from", window_to as "to" from matched_windows
    where organization_id = ${orgId} and detection_id = ${detectionId} order by window_from limit ${limit}`;
}

/**
 * Removes a window whose events a run stores in the same transaction, and notes how long they took from their receipt. Returns the arrival of its first
 * event, or undefined if it was removed meanwhile: then store nothing.
 */
export async function deleteMatchedWindow(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  { window, now }: { window: TimeRange; now: Date },
): Promise<Date | undefined> {
  const isDetection = sql`organization_id = ${orgId} and detection_id = ${detectionId}`;
  const deleted = await queryRow<{ arrivedAt: Date }>(tx)`
    with deleted as (
      delete from matched_windows where ${isDetection} and window_from = ${window.from} and window_to = ${window.to} returning arrived_at
    ), noted as (
      update continuous_detections set latency_ms = greatest(0, round(extract(epoch from ${now}::timestamptz - (select arrived_at from deleted)) * 1000))
      where ${isDetection} and exists (select from deleted)
    )
    select arrived_at as "arrivedAt" from deleted`;
  return deleted?.arrivedAt;
}

/** Leaves the windows of a detection whose continuous run ended without examining them to its slots, which then have not missed their events. */
export async function deleteMatchedWindows(tx: Tx, { orgId, detectionId }: DetectionKey): Promise<void> {
  await sql`
    with deleted as (
      delete from matched_windows where organization_id = ${orgId} and detection_id = ${detectionId} returning window_to
    )
    update continuous_detections set matched_from = greatest(matched_from, (select max(window_to) from deleted))
    where organization_id = ${orgId} and detection_id = ${detectionId} and exists (select from deleted)`.execute(tx);
}
