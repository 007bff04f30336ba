import { sql, type RawBuilder } from 'kysely';
import { row, rows, type Tx } from '../db/db.ts';
import type { OrgId } from '../lib/org-id.ts';
import { insertGaps } from './gaps.ts';
import type { SlotWindow } from './timeline.ts';

export type DetectionRef = { orgId: OrgId; detectionId: string };

/** Selects the oldest windows not yet examined, of slots up to `slotAt`. */
export function pendingWindows(ref: DetectionRef, upTo: { slotAt: Date; limit: number }): RawBuilder<SlotWindow> {
  return sql<SlotWindow>`
    select window_from as "from", window_to as "to", slot_at as "slotAt" from pending_windows
    where organization_id = ${ref.orgId} and detection_id = ${ref.detectionId} and slot_at <= ${upTo.slotAt}
    order by window_from limit ${upTo.limit}`;
}

export function listPendingWindows(
  tx: Tx,
  ref: DetectionRef,
  upTo: { slotAt: Date; limit: number },
): Promise<SlotWindow[]> {
  return rows(tx, pendingWindows(ref, upTo));
}

/** Turns a pending window into covered time, joined with its neighbours. False: it was no longer pending, and nothing may be written for it. */
export async function coverWindow(tx: Tx, ref: DetectionRef, window: { from: Date; to: Date }): Promise<boolean> {
  const mine = sql`organization_id = ${ref.orgId} and detection_id = ${ref.detectionId}`;
  const { rows: covered } = await sql`
    with gone as (
      delete from pending_windows where ${mine} and window_from = ${window.from} and window_to = ${window.to} returning 1
    ), behind as (
      delete from coverage where ${mine} and covered_from = ${window.to} and exists (select from gone) returning covered_to
    ), longer as (
      update coverage set covered_to = coalesce((select covered_to from behind), ${window.to})
      where ${mine} and covered_to = ${window.from} and exists (select from gone) returning 1
    ), fresh as (
      insert into coverage (organization_id, detection_id, covered_from, covered_to)
      select ${ref.orgId}::uuid, ${ref.detectionId}::uuid, ${window.from}::timestamptz, coalesce((select covered_to from behind), ${window.to}::timestamptz)
      from gone where not exists (select from longer)
    )
    select 1 from gone`.execute(tx);
  return covered.length > 0;
}

/** Turns a pending window into a gap. False: it was no longer pending. */
export async function leaveGap(
  tx: Tx,
  ref: DetectionRef,
  gap: { from: Date; to: Date; reason: string; detail?: string; now: Date },
): Promise<boolean> {
  const gone = await row(
    tx,
    sql`delete from pending_windows where organization_id = ${ref.orgId} and detection_id = ${ref.detectionId}
      and window_from = ${gap.from} and window_to = ${gap.to} returning 1`,
  );
  if (!gone) return false;
  const { now, ...rest } = gap;
  await insertGaps(tx, [{ organizationId: ref.orgId, detectionId: ref.detectionId, ...rest }], now);
  return true;
}

/** Notes why windows are still pending, so that a gap that they become later has that reason. */
export async function markFailed(tx: Tx, ref: DetectionRef, upTo: { slotAt: Date; kind: string }): Promise<void> {
  await sql`
    update pending_windows set failure = ${upTo.kind}
    where organization_id = ${ref.orgId} and detection_id = ${ref.detectionId} and slot_at <= ${upTo.slotAt}`.execute(
    tx,
  );
}
