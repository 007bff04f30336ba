import { sql } from 'kysely';
import type { Tx } from '../../platform/db/db.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { lookbackLeastMs, lookbackMs } from '../../platform/lib/cron/cron-intervals.ts';
import { expireWindows, listBehind } from './coverage-reach.store.ts';
import { planDueSlots, reachesBackTo, type Plan, type SlotWindow } from './timeline.ts';

/** A row of `schedules` that is locked by the caller and due. */
export type DueSchedule = {
  organization_id: string;
  detection_id: string;
  cron: string;
  next_slot_at: Date;
  boundary_at: Date;
  lookback_minutes: number | null;
  delay_ms: number;
  /** Whom its runs will ask; null: the embedded store. */
  connection_id: string | null;
};

export type PlanLimits = { now: Date; spreadMs: number; slotsMax: number };

type SlotRun = { schedule: DueSchedule; id: string; slotAt: Date; window: SlotWindow | null; queued: boolean };

/**
 * Gives each due slot of these schedules its one run: the newest is queued, the others end superseded, as does an older
 * run that has not begun; their windows stay pending, for the newest to examine. Answers the number of runs queued.
 */
export async function planSlots(
  tx: Tx,
  due: DueSchedule[],
  limits: PlanLimits,
): Promise<{ queued: number; more: boolean }> {
  if (due.length === 0) return { queued: 0, more: false };
  const plans = due.map((schedule) => ({ schedule, plan: planOf(schedule, limits) }));
  const runs = plans.flatMap(({ schedule, plan }) => runsOf(schedule, plan));
  await supersede(tx, due, limits.now);
  await writePlans(tx, plans);
  await writeRuns(tx, runs, limits);
  await expireBehind(tx, due, limits.now);
  return { queued: runs.filter((run) => run.queued).length, more: plans.some(({ plan }) => plan.more) };
}

async function expireBehind(tx: Tx, due: DueSchedule[], now: Date): Promise<void> {
  const reachOf = (schedule: DueSchedule, lookback: number) => ({
    organizationId: schedule.organization_id,
    detectionId: schedule.detection_id,
    before: reachesBackTo(now, lookback),
  });
  const behind = await listBehind(
    tx,
    due.map((schedule) => reachOf(schedule, lookbackLeastMs(schedule.lookback_minutes))),
  );
  const late = due.filter((schedule) => behind.has(schedule.detection_id));
  if (late.length === 0) return;
  const reaches = late.map((schedule) => reachOf(schedule, lookbackMs(schedule.cron, schedule.lookback_minutes)));
  await expireWindows(tx, reaches, now);
}

function planOf(schedule: DueSchedule, limits: PlanLimits): Plan {
  const { cron, delay_ms: delayMs, boundary_at: boundaryAt, next_slot_at: nextSlotAt } = schedule;
  return planDueSlots({ cron, delayMs, boundaryAt, nextSlotAt }, limits.now, limits.slotsMax);
}

function runsOf(schedule: DueSchedule, plan: Plan): SlotRun[] {
  return plan.slots.map(({ slotAt, window }, index) => ({
    schedule,
    id: uuidv7(slotAt),
    slotAt,
    window,
    queued: !plan.more && index === plan.slots.length - 1,
  }));
}

async function supersede(tx: Tx, due: DueSchedule[], now: Date): Promise<void> {
  await sql`
    with old as (
      delete from run_queue q
      using unnest(${due.map((schedule) => schedule.organization_id)}::uuid[], ${due.map((schedule) => schedule.detection_id)}::uuid[])
        as s (organization_id, detection_id)
      where q.organization_id = s.organization_id and q.detection_id = s.detection_id
        and q.kind = 'schedule' and q.state = 'queued' and not q.begun
      returning q.run_id, q.due_at
    )
    update runs r set status = 'cancelled', status_reason = 'superseded', finished_at = ${now}
    from old where r.due_at = old.due_at and r.id = old.run_id`.execute(tx);
}

async function writePlans(tx: Tx, plans: { schedule: DueSchedule; plan: Plan }[]): Promise<void> {
  const windows = plans.flatMap(({ schedule, plan }) =>
    plan.slots.flatMap(({ window }) => (window ? [{ schedule, window }] : [])),
  );
  await sql`
    with moved as (
      update schedules s set boundary_at = p.boundary_at, next_slot_at = p.next_slot_at
      from unnest(${plans.map(({ schedule }) => schedule.organization_id)}::uuid[],
        ${plans.map(({ schedule }) => schedule.detection_id)}::uuid[],
        ${plans.map(({ plan }) => plan.boundaryAt.toISOString())}::timestamptz[],
        ${plans.map(({ plan }) => plan.nextSlotAt?.toISOString() ?? null)}::timestamptz[])
        as p (organization_id, detection_id, boundary_at, next_slot_at)
      where s.organization_id = p.organization_id and s.detection_id = p.detection_id
    )
    insert into pending_windows (organization_id, detection_id, window_from, window_to, slot_at)
    select * from unnest(${windows.map(({ schedule }) => schedule.organization_id)}::uuid[],
      ${windows.map(({ schedule }) => schedule.detection_id)}::uuid[],
      ${windows.map(({ window }) => window.from.toISOString())}::timestamptz[],
      ${windows.map(({ window }) => window.to.toISOString())}::timestamptz[],
      ${windows.map(({ window }) => window.slotAt.toISOString())}::timestamptz[])`.execute(tx);
}

// A slot clock that was set back may come by a slot again: its run is there already, and is not queued twice.
async function writeRuns(tx: Tx, runs: SlotRun[], limits: PlanLimits): Promise<void> {
  await sql`
    with given as (
      select * from unnest(${runs.map((run) => run.schedule.organization_id)}::uuid[],
        ${runs.map((run) => run.schedule.detection_id)}::uuid[], ${runs.map((run) => run.id)}::uuid[],
        ${runs.map((run) => run.slotAt.toISOString())}::timestamptz[],
        ${runs.map((run) => run.window?.from.toISOString() ?? null)}::timestamptz[],
        ${runs.map((run) => run.window?.to.toISOString() ?? null)}::timestamptz[],
        ${runs.map((run) => startAt(run, limits.spreadMs).toISOString())}::timestamptz[], ${runs.map((run) => run.queued)}::boolean[],
        ${runs.map((run) => run.schedule.connection_id)}::uuid[])
        as r (organization_id, detection_id, id, slot_at, window_from, window_to, start_at, queued, connection_id)
    ), made as (
      insert into runs (organization_id, id, detection_id, due_at, slot_at, trigger, status, status_reason, window_from, window_to, finished_at)
      select organization_id, id, detection_id, slot_at, slot_at, 'schedule', case when queued then 'queued' else 'cancelled' end,
        case when not queued then 'superseded' end, window_from, window_to, case when not queued then ${limits.now}::timestamptz end
      from given
      on conflict do nothing
      returning id
    ), lane as (
      insert into lanes (organization_id, kind) select distinct organization_id, 'schedule' from given on conflict do nothing
    )
    insert into run_queue (organization_id, run_id, detection_id, kind, due_at, start_at, connection_id)
    select organization_id, id, detection_id, 'schedule', slot_at, start_at, connection_id
    from given where queued and id in (select id from made)`.execute(tx);
}

/** Spreads the starts of one slot evenly, each detection always at the same distance: the end of a UUIDv7 is random. */
function startAt(run: SlotRun, spreadMs: number): Date {
  const share = Number.parseInt(run.schedule.detection_id.slice(-8), 16) / 2 ** 32;
  return new Date(run.slotAt.getTime() + Math.floor(share * spreadMs));
}
