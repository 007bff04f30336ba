import { sql, type RawBuilder } from 'kysely';
import { row, rows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { emitGaps, type ChangedGap } from './gap-events.ts';
import { insertGaps } from './gaps.store.ts';
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
export function coverWindow(tx: Tx, ref: DetectionRef, window: { from: Date; to: Date }): Promise<boolean> {
  const pending = sql`delete from pending_windows where organization_id = ${ref.orgId} and detection_id = ${ref.detectionId}
    and window_from = ${window.from} and window_to = ${window.to} returning 1`;
  return cover(tx, ref, window, pending);
}

/** The next window of a gap that a run fills becomes covered time. False: the run no longer fills it, and nothing may be written for it. */
export async function coverGapWindow(
  tx: Tx,
  ref: DetectionRef,
  window: { from: Date; to: Date; runId: string; now: Date },
): Promise<boolean> {
  const filled = sql`update gaps set filled_to = ${window.to}, updated_at = ${window.now},
      state = case when gap_to <= ${window.to} then 'filled' else state end
    where organization_id = ${ref.orgId} and detection_id = ${ref.detectionId} and state = 'filling' and run_id = ${window.runId}
      and coalesce(filled_to, gap_from) = ${window.from} and gap_to >= ${window.to} returning 1`;
  if (!(await cover(tx, ref, window, filled))) return false;
  const whole = await rows(
    tx,
    sql<ChangedGap>`select * from gaps where organization_id = ${ref.orgId} and detection_id = ${ref.detectionId}
      and state = 'filled' and run_id = ${window.runId} and filled_to = ${window.to}`,
  );
  await emitGaps(tx, 'gap.filled', whole);
  return true;
}

/** Adds covered time where `gone` took it from elsewhere. */
async function cover(
  tx: Tx,
  ref: DetectionRef,
  window: { from: Date; to: Date },
  gone: RawBuilder<unknown>,
): Promise<boolean> {
  const mine = sql`organization_id = ${ref.orgId} and detection_id = ${ref.detectionId}`;
  const { rows: covered } = await sql`
    with gone as (${gone}), behind as (
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
