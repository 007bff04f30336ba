import { sql, type RawBuilder } from 'kysely';
import { queryRow, type Tx } from '../../platform/db/db.ts';
import { parseStoredCron, nextSlot } from '../../platform/lib/time/cron.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { reopenGaps } from './fill-gaps.store.ts';
import { insertGaps } from './gaps.store.ts';
import { planSlots, type DueSchedule } from './enqueue-runs.ts';
import { cancelQueuedRuns } from './run-queue.store.ts';
import { coverageStart, planReactivation } from './timeline.ts';

/** `cron` is normalized, or null for a detection without a schedule. `now` is slot time. */
export type ScheduleSettings = {
  orgId: OrgId;
  detectionId: string;
  cron: string | null;
  active: boolean;
  lookbackMinutes: number | null;
  now: Date;
  /** How far windows end before their slot, in milliseconds, as the connection requires. Default 0. */
  delayMs?: number;
};

export type ScheduleChange = ScheduleSettings & { reason: 'disabled' | 'deleted' };

type ScheduleRow = Omit<DueSchedule, 'cron' | 'next_slot_at'> & {
  cron: string | null;
  next_slot_at: Date | null;
  active: boolean;
};

/** Slots that are planned before a change takes effect. Later due slots become part of the first window of the new schedule. */
const slotsMax = 5000;

/**
 * Returns the statement that creates the schedule of a detection, unless it has one, or null for a detection without a cron schedule. Coverage
 * starts at the latest slot at or before `now`.
 */
export function scheduleInsertSql(settings: ScheduleSettings): RawBuilder<unknown> | null {
  const { orgId, detectionId, cron, active, lookbackMinutes, now, delayMs = 0 } = settings;
  if (cron === null) return null;
  const from = coverageStart(cron, delayMs, now);
  const nextSlotAt = active ? nextSlot(parseStoredCron(cron), now) : null;
  return sql`
    insert into schedules (organization_id, detection_id, cron, active, next_slot_at, coverage_from, boundary_at, lookback_minutes, delay_ms)
    values (${orgId}, ${detectionId}, ${cron}, ${active}, ${nextSlotAt}, ${from}, ${from}, ${lookbackMinutes}, ${delayMs})
    on conflict do nothing`;
}

/** Creates the schedule of a detection. One that already has a schedule keeps its timeline: its schedule is changed instead. */
export async function openSchedule(tx: Tx, settings: ScheduleSettings): Promise<void> {
  const insert = scheduleInsertSql(settings);
  if (insert === null) return;
  const { numAffectedRows } = await insert.execute(tx);
  if (!numAffectedRows) await changeSchedule(tx, { ...settings, reason: 'disabled' });
}

/**
 * Changes the cron schedule, activity or look-back of a detection. Slots that are already due are planned under the old
 * schedule. Deactivation cancels the queued run, while a running one finishes. Reactivation stores the inactive time as a gap
 * of `reason`.
 */
export async function changeSchedule(tx: Tx, change: ScheduleChange): Promise<void> {
  const schedule = await lockSchedule(tx, change.orgId, change.detectionId);
  if (!schedule) {
    // A detection without a schedule can have runs that a user requested.
    if (!change.active) await cancelRuns(tx, change);
    return openSchedule(tx, change);
  }
  const boundaryAt = await planDueRuns(tx, schedule, change.now);
  if (change.cron === null || !change.active) {
    await updateSchedule(tx, change, { boundaryAt, nextSlotAt: null });
    await cancelRuns(tx, change);
    return;
  }
  if (schedule.active) {
    await updateSchedule(tx, change, { boundaryAt, nextSlotAt: nextSlot(parseStoredCron(change.cron), change.now) });
    return;
  }
  const { cron, delayMs = schedule.delay_ms, now, reason } = change;
  const { gap, ...timeline } = planReactivation({ cron, delayMs, boundaryAt }, now, reason);
  await updateSchedule(tx, change, timeline);
  if (gap) await insertGaps(tx, [{ organizationId: change.orgId, detectionId: change.detectionId, ...gap }], now);
}

function lockSchedule(tx: Tx, orgId: string, detectionId: string): Promise<ScheduleRow | undefined> {
  return queryRow<ScheduleRow>(tx)`
      select organization_id, detection_id, cron, active, next_slot_at, boundary_at, lookback_minutes, delay_ms, connection_id
      from schedules where organization_id = ${orgId} and detection_id = ${detectionId} for update`;
}

/** Plans the due slots of a locked schedule. Returns the end of its last planned window. */
async function planDueRuns(tx: Tx, schedule: ScheduleRow, now: Date): Promise<Date> {
  const { cron, next_slot_at: nextSlotAt } = schedule;
  if (!schedule.active || cron === null || nextSlotAt === null || nextSlotAt > now) return schedule.boundary_at;
  await planSlots(tx, [{ ...schedule, cron, next_slot_at: nextSlotAt }], { now, spreadMs: 0, slotsMax });
  return (await lockSchedule(tx, schedule.organization_id, schedule.detection_id))!.boundary_at;
}

async function updateSchedule(
  tx: Tx,
  change: ScheduleChange,
  { boundaryAt, nextSlotAt }: { boundaryAt: Date; nextSlotAt: Date | null },
): Promise<void> {
  const active = change.active && change.cron !== null;
  await sql`
    update schedules set cron = ${change.cron}, lookback_minutes = ${change.lookbackMinutes},
      delay_ms = coalesce(${change.delayMs ?? null}, delay_ms), boundary_at = ${boundaryAt}, next_slot_at = ${nextSlotAt}, active = ${active},
      author_failures = case when ${active} and not active then 0 else author_failures end
    where organization_id = ${change.orgId} and detection_id = ${change.detectionId}`.execute(tx);
}

async function cancelRuns(tx: Tx, change: ScheduleChange): Promise<void> {
  await cancelQueuedRuns(tx, [change], change);
  if (change.reason === 'deleted') await reopenGaps(tx, change, { runId: null, now: change.now });
}
