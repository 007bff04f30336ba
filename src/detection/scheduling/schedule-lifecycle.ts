import { sql } from 'kysely';
import { row, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { reopenGaps } from './gap-windows.store.ts';
import { cronOf } from '../../platform/lib/cron/cron-intervals.ts';
import { nextSlot } from '../../platform/lib/cron/cron.ts';
import { insertGaps } from './gaps.store.ts';
import { planSlots, type DueSchedule } from './plan-slots.ts';
import { coverageStart, reopen } from './timeline.ts';

/** `cron` as stored (normalised), null for none; `now` is slot time. */
export type ScheduleSettings = {
  orgId: OrgId;
  detectionId: string;
  cron: string | null;
  active: boolean;
  lookbackMinutes: number | null;
  now: Date;
  /** Milliseconds that a window lies behind its slot (of the connection); 0 if absent. */
  delayMs?: number;
};

export type ScheduleChange = ScheduleSettings & { reason: 'disabled' | 'deleted' };

type ScheduleRow = Omit<DueSchedule, 'cron' | 'next_slot_at'> & {
  cron: string | null;
  next_slot_at: Date | null;
  active: boolean;
};

// Slots that a change plans before it takes effect; what is due beyond falls to the first window of the new schedule.
const slotsMax = 5000;

/**
 * Gives a detection its first schedule; without a cron nothing is made. Coverage begins at the last slot at or before `now`.
 * A detection that had a schedule before keeps its time line: then this is a change.
 */
export async function openSchedule(tx: Tx, s: ScheduleSettings): Promise<void> {
  if (s.cron === null) return;
  const delayMs = s.delayMs ?? 0;
  const from = coverageStart(s.cron, delayMs, s.now);
  const nextSlotAt = s.active ? nextSlot(cronOf(s.cron), s.now) : null;
  const { numAffectedRows } = await sql`
    insert into schedules (organization_id, detection_id, cron, active, next_slot_at, coverage_from, boundary_at, lookback_minutes, delay_ms)
    values (${s.orgId}, ${s.detectionId}, ${s.cron}, ${s.active}, ${nextSlotAt}, ${from}, ${from}, ${s.lookbackMinutes}, ${delayMs})
    on conflict do nothing`.execute(tx);
  if (!numAffectedRows) await changeSchedule(tx, { ...s, reason: 'disabled' });
}

/**
 * Any later change of cron, activity or look-back. Slots already due are planned as they stood. Becoming inactive cancels the
 * queued run (a running one finishes); becoming active again stores the time away as a gap of `reason`.
 */
export async function changeSchedule(tx: Tx, s: ScheduleChange): Promise<void> {
  const found = await lockSchedule(tx, s.orgId, s.detectionId);
  if (!found) {
    // Runs that were asked for by hand need no schedule.
    if (!s.active) await cancelQueued(tx, s);
    return openSchedule(tx, s);
  }
  const boundaryAt = await planDue(tx, found, s.now);
  if (s.cron === null || !s.active) {
    await store(tx, s, { boundaryAt, nextSlotAt: null });
    await cancelQueued(tx, s);
    return;
  }
  if (found.active) {
    await store(tx, s, { boundaryAt, nextSlotAt: nextSlot(cronOf(s.cron), s.now) });
    return;
  }
  const opened = reopen({ cron: s.cron, delayMs: s.delayMs ?? found.delay_ms, boundaryAt }, s.now, s.reason);
  await store(tx, s, opened);
  if (opened.gap) await insertGaps(tx, [{ organizationId: s.orgId, detectionId: s.detectionId, ...opened.gap }], s.now);
}

function lockSchedule(tx: Tx, orgId: string, detectionId: string): Promise<ScheduleRow | undefined> {
  return row(
    tx,
    sql<ScheduleRow>`
      select organization_id, detection_id, cron, active, next_slot_at, boundary_at, lookback_minutes, delay_ms, connection_id
      from schedules where organization_id = ${orgId} and detection_id = ${detectionId} for update`,
  );
}

async function planDue(tx: Tx, found: ScheduleRow, now: Date): Promise<Date> {
  const { cron, next_slot_at: nextSlotAt } = found;
  if (!found.active || cron === null || nextSlotAt === null || nextSlotAt > now) return found.boundary_at;
  await planSlots(tx, [{ ...found, cron, next_slot_at: nextSlotAt }], { now, spreadMs: 0, slotsMax });
  return (await lockSchedule(tx, found.organization_id, found.detection_id))!.boundary_at;
}

async function store(tx: Tx, s: ScheduleChange, at: { boundaryAt: Date; nextSlotAt: Date | null }): Promise<void> {
  const active = s.active && s.cron !== null;
  await sql`
    update schedules set cron = ${s.cron}, lookback_minutes = ${s.lookbackMinutes}, delay_ms = coalesce(${s.delayMs ?? null}, delay_ms),
      boundary_at = ${at.boundaryAt}, next_slot_at = ${at.nextSlotAt}, active = ${active},
      author_failures = case when ${active} and not active then 0 else author_failures end
    where organization_id = ${s.orgId} and detection_id = ${s.detectionId}`.execute(tx);
}

async function cancelQueued(tx: Tx, s: ScheduleChange): Promise<void> {
  await sql`
    with old as (
      delete from run_queue where organization_id = ${s.orgId} and detection_id = ${s.detectionId} and state = 'queued'
        and (kind = 'schedule' or ${s.reason} = 'deleted')
      returning run_id, due_at
    )
    update runs r set status = 'cancelled', status_reason = ${s.reason}, finished_at = ${s.now}
    from old where r.organization_id = ${s.orgId} and r.due_at = old.due_at and r.id = old.run_id`.execute(tx);
  if (s.reason === 'deleted') await reopenGaps(tx, s, { runId: null, now: s.now });
}
