import { sql, type RawBuilder } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { RunClaim } from './run-claim.ts';
import type { DetectionKey, TimeRange, SlotWindow } from './timeline.ts';
import { emitGapEvents, gapEventColumns, type GapEventRow, insertGaps } from './gaps.store.ts';

/** Query for the oldest windows that no run has examined, of slots up to `slotAt`. */
export function selectPendingWindows(
  { orgId, detectionId }: DetectionKey,
  { slotAt, limit }: { slotAt: Date; limit: number },
): RawBuilder<SlotWindow> {
  return sql<SlotWindow>`
    select window_from as "from", window_to as "to", slot_at as "slotAt" from pending_windows
    where organization_id = ${orgId} and detection_id = ${detectionId} and slot_at <= ${slotAt}
    order by window_from limit ${limit}`;
}

export function listPendingWindows(
  tx: Tx,
  detection: DetectionKey,
  page: { slotAt: Date; limit: number },
): Promise<SlotWindow[]> {
  return queryRows(tx, selectPendingWindows(detection, page));
}

const deletePendingWindow = ({ orgId, detectionId }: DetectionKey, { from, to }: TimeRange): RawBuilder<unknown> =>
  sql`delete from pending_windows where organization_id = ${orgId} and detection_id = ${detectionId}
    and window_from = ${from} and window_to = ${to} returning detection_id, window_from, window_to`;

/** Marks a pending window as covered. Returns false if it is no longer pending: then nothing may be stored for it. */
export async function coverWindow(tx: Tx, detection: DetectionKey, window: TimeRange): Promise<boolean> {
  return (await addCoverage(tx, detection.orgId, deletePendingWindow(detection, window))).size > 0;
}

/**
 * Like `coverWindow`, for one window of each of several claimed runs of an organization, whose claims are locked first. Returns the detections whose
 * claim is valid, is not cancelled, and whose window was pending.
 */
export function coverClaimedWindows(
  tx: Tx,
  orgId: OrgId,
  windows: readonly (TimeRange & { claim: RunClaim })[],
): Promise<Set<string>> {
  const claims = windows.map(({ claim }) => claim);
  const [from, to] = [windows.map((one) => one.from.toISOString()), windows.map((one) => one.to.toISOString())];
  const source = sql`
    with locked as materialized (
      select q.detection_id, w.window_from, w.window_to from run_queue q
        join unnest(${claims.map(({ runId }) => runId)}::uuid[], ${claims.map(({ attempt }) => attempt)}::int[],
          ${claims.map(({ worker }) => worker)}::text[], ${from}::timestamptz[], ${to}::timestamptz[])
          as w (run_id, attempt, worker, window_from, window_to) on w.run_id = q.run_id and w.attempt = q.attempt and w.worker = q.worker
      where q.state = 'running' and not q.cancel_requested order by q.run_id for update of q
    )
    delete from pending_windows p using locked l
    where p.organization_id = ${orgId} and p.detection_id = l.detection_id and p.window_from = l.window_from and p.window_to = l.window_to
    returning p.detection_id, p.window_from, p.window_to`;
  return addCoverage(tx, orgId, source);
}

/** Marks the next window of a gap as covered. Returns false if the run no longer fills the gap: then store nothing. */
export async function coverGapWindow(
  tx: Tx,
  detection: DetectionKey,
  { runId, now, ...window }: TimeRange & { runId: string; now: Date },
): Promise<boolean> {
  const gapsOfDetection = sql`organization_id = ${detection.orgId} and detection_id = ${detection.detectionId}`;
  const source = sql`update gaps set filled_to = ${window.to}, updated_at = ${now},
      state = case when gap_to <= ${window.to} then 'filled' else state end
    where ${gapsOfDetection} and state = 'filling' and run_id = ${runId}
      and coalesce(filled_to, gap_from) = ${window.from} and gap_to >= ${window.to}
    returning detection_id, ${window.from}::timestamptz as window_from, ${window.to}::timestamptz as window_to`;
  if ((await addCoverage(tx, detection.orgId, source)).size === 0) return false;
  const filled = await queryRows<GapEventRow>(tx)`
    select ${gapEventColumns} from gaps
    where ${gapsOfDetection} and state = 'filled' and run_id = ${runId} and filled_to = ${window.to}`;
  await emitGapEvents(tx, 'gap.filled', filled);
  return true;
}

/**
 * Adds windows, at most one of a detection, to the covered time and merges them with adjacent covered time. `source` is the statement that
 * removes them from pending windows or from a gap and returns `detection_id`, `window_from` and `window_to`. Returns their detections.
 */
async function addCoverage(tx: Tx, orgId: OrgId, source: RawBuilder<unknown>): Promise<Set<string>> {
  const covered = await queryRows<{ detectionId: string }>(tx)`
    with source as (${source}), following as (
      delete from coverage c using source s
      where c.organization_id = ${orgId} and c.detection_id = s.detection_id and c.covered_from = s.window_to
      returning c.detection_id, c.covered_to
    ), target as (
      select s.*, coalesce(f.covered_to, s.window_to) as covered_to from source s left join following f using (detection_id)
    ), extended as (
      update coverage c set covered_to = t.covered_to from target t
      where c.organization_id = ${orgId} and c.detection_id = t.detection_id and c.covered_to = t.window_from
      returning c.detection_id
    ), inserted as (
      insert into coverage (organization_id, detection_id, covered_from, covered_to)
      select ${orgId}::uuid, detection_id, window_from, covered_to from target
      where detection_id not in (select detection_id from extended)
    )
    select detection_id as "detectionId" from source`;
  return new Set(covered.map(({ detectionId }) => detectionId));
}

/** Returns the end of the last covered time that begins before `before`, or null. */
export async function findCoveredEnd(tx: Tx, { orgId, detectionId }: DetectionKey, before: Date): Promise<Date | null> {
  const found = await queryRow<{ to: Date }>(tx)`select covered_to as "to" from coverage
    where organization_id = ${orgId} and detection_id = ${detectionId} and covered_from < ${before}
    order by covered_from desc limit 1`;
  return found?.to ?? null;
}

/** Turns a pending window into a gap. Returns false if it is no longer pending. */
export async function replaceWindowWithGap(
  tx: Tx,
  detection: DetectionKey,
  { now, ...gap }: TimeRange & { reason: string; detail?: string; now: Date },
): Promise<boolean> {
  if (!(await queryRow(tx)`${deletePendingWindow(detection, gap)}`)) return false;
  await insertGaps(tx, [{ organizationId: detection.orgId, detectionId: detection.detectionId, ...gap }], now);
  return true;
}

/** Records why pending windows were not examined. If they become gaps later, this is their reason. */
export async function recordWindowFailure(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  { slotAt, kind }: { slotAt: Date; kind: string },
): Promise<void> {
  await sql`
    update pending_windows set failure = ${kind}
    where organization_id = ${orgId} and detection_id = ${detectionId} and slot_at <= ${slotAt}`.execute(tx);
}
