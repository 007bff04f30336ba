import { sql } from 'kysely';
import { acrossOrgs, queryRow, queryRows, type Db, type Tx } from '../../platform/db/db.ts';
import { isNotSuspended } from '../../platform/orgs/orgs.store.ts';
import { lookbackMs, minLookbackMs } from '../../platform/lib/time/cron.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { expireWindows, listDetectionsBehind } from './gaps.store.ts';
import { cancelQueuedRuns, insertQueueEntries } from './run-queue.store.ts';
import { subtractMs, planDueSlots, type SlotPlan, type SlotWindow } from './timeline.ts';

/** Slots of one detection that a single pass plans. After a longer downtime the next pass plans the rest. */
const slotsMax = 500;

/**
 * Creates one run for each due slot of at most `limit` detections, except those of suspended organizations. Schedulers may call this
 * concurrently. `now` is slot time.
 * Starts are spread over `spreadMs`. Returns the number of queued runs and whether more slots are due.
 */
export async function enqueueDueRunsAcrossOrgs(
  db: Db,
  { now, spreadMs, limit }: { now: Date; spreadMs: number; limit: number },
): Promise<{ queued: number; more: boolean }> {
  return acrossOrgs(db, async (tx) => {
    // Otherwise the planner reads the whole of `schedules` to update a batch of it.
    await sql`set local enable_hashjoin = off; set local enable_mergejoin = off`.execute(tx);
    const due = await queryRows<DueSchedule>(tx)`
        select organization_id, detection_id, cron, next_slot_at, boundary_at, lookback_minutes, delay_ms, connection_id
        from schedules where active and next_slot_at <= ${now} and ${isNotSuspended(sql`organization_id`)}
        order by next_slot_at limit ${limit} for update skip locked`;
    const planned = await planSlots(tx, due, { now, spreadMs, slotsMax });
    return { queued: planned.queued, more: planned.more || due.length === limit };
  });
}

/** Returns the earliest next slot of all active schedules. */
export async function findNextSlotAcrossOrgs(db: Db): Promise<Date | undefined> {
  const found = await acrossOrgs(
    db,
    (tx) => queryRow<{ slotAt: Date | null }>(tx)`select min(next_slot_at) as "slotAt" from schedules
        where active and ${isNotSuspended(sql`organization_id`)}`,
  );
  return found?.slotAt ?? undefined;
}

/** A row of `schedules` that is due and that the caller has locked. */
export type DueSchedule = {
  organization_id: OrgId;
  detection_id: string;
  cron: string;
  next_slot_at: Date;
  boundary_at: Date;
  lookback_minutes: number | null;
  delay_ms: number;
  /** Connection of its runs. Null is the embedded log store. */
  connection_id: string | null;
};

type PlanOptions = { now: Date; spreadMs: number; slotsMax: number };

type SlotRun = { schedule: DueSchedule; id: string; slotAt: Date; window: SlotWindow | null; isQueued: boolean };

/**
 * Creates the run of each due slot. The run of the latest slot is queued. The others, and an earlier run that no worker has
 * begun, end as superseded: their windows stay pending and the latest run examines them. Returns the number of queued runs.
 */
export async function planSlots(
  tx: Tx,
  due: DueSchedule[],
  options: PlanOptions,
): Promise<{ queued: number; more: boolean }> {
  if (due.length === 0) return { queued: 0, more: false };
  const { now, slotsMax } = options;
  const plans = due.map((schedule) => ({ schedule, plan: planDueSlots(toScheduleState(schedule), now, slotsMax) }));
  const runs = plans.flatMap(({ schedule, plan }) => toSlotRuns(schedule, plan));
  const detections = due.map((schedule) => ({ orgId: schedule.organization_id, detectionId: schedule.detection_id }));
  await cancelQueuedRuns(tx, detections, { reason: 'superseded', now });
  await storePlans(tx, plans);
  await insertSlotRuns(tx, runs, options);
  await expireOldWindows(tx, due, now);
  return { queued: runs.filter((run) => run.isQueued).length, more: plans.some(({ plan }) => plan.more) };
}

const toScheduleState = (schedule: DueSchedule) => ({
  cron: schedule.cron,
  delayMs: schedule.delay_ms,
  boundaryAt: schedule.boundary_at,
  nextSlotAt: schedule.next_slot_at,
});

function toSlotRuns(schedule: DueSchedule, plan: SlotPlan): SlotRun[] {
  return plan.slots.map(({ slotAt, window }, index) => ({
    schedule,
    id: uuidv7(slotAt),
    slotAt,
    window,
    isQueued: !plan.more && index === plan.slots.length - 1,
  }));
}

async function expireOldWindows(tx: Tx, due: DueSchedule[], now: Date): Promise<void> {
  const toLimit = (schedule: DueSchedule, ms: number) => ({
    organizationId: schedule.organization_id,
    detectionId: schedule.detection_id,
    before: subtractMs(now, ms),
  });
  // The exact look-back depends on the cron schedule and is costly, so the minimum is checked first.
  const behind = await listDetectionsBehind(
    tx,
    due.map((schedule) => toLimit(schedule, minLookbackMs(schedule.lookback_minutes))),
  );
  const late = due.filter((schedule) => behind.has(schedule.detection_id));
  if (late.length === 0) return;
  const limits = late.map((schedule) => toLimit(schedule, lookbackMs(schedule.cron, schedule.lookback_minutes)));
  await expireWindows(tx, limits, now);
}

async function storePlans(tx: Tx, plans: { schedule: DueSchedule; plan: SlotPlan }[]): Promise<void> {
  const windows = plans.flatMap(({ schedule, plan }) =>
    plan.slots.flatMap(({ window }) => (window ? [{ schedule, window }] : [])),
  );
  await sql`
    with updated as (
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

/** Stores the runs and queues those to execute. Skips a run that its slot already has, which happens after slot time was set back. */
async function insertSlotRuns(tx: Tx, runs: SlotRun[], { now, spreadMs }: PlanOptions): Promise<void> {
  const inserted = await queryRows<{ id: string }>(tx)`
      insert into runs (organization_id, id, detection_id, due_at, slot_at, trigger, status, status_reason, window_from, window_to, finished_at)
      select organization_id, id, detection_id, slot_at, slot_at, 'schedule', case when queued then 'queued' else 'cancelled' end,
        case when not queued then 'superseded' end, window_from, window_to, case when not queued then ${now}::timestamptz end
      from unnest(${runs.map((run) => run.schedule.organization_id)}::uuid[],
        ${runs.map((run) => run.schedule.detection_id)}::uuid[], ${runs.map((run) => run.id)}::uuid[],
        ${runs.map((run) => run.slotAt.toISOString())}::timestamptz[],
        ${runs.map((run) => run.window?.from.toISOString() ?? null)}::timestamptz[],
        ${runs.map((run) => run.window?.to.toISOString() ?? null)}::timestamptz[], ${runs.map((run) => run.isQueued)}::boolean[])
        as r (organization_id, detection_id, id, slot_at, window_from, window_to, queued)
      on conflict do nothing
      returning id`;
  const newIds = new Set(inserted.map((row) => row.id));
  const entries = runs
    .filter((run) => run.isQueued && newIds.has(run.id))
    .map((run) => ({
      orgId: run.schedule.organization_id,
      runId: run.id,
      detectionId: run.schedule.detection_id,
      dueAt: run.slotAt,
      startAt: spreadStart(run, spreadMs),
      connectionId: run.schedule.connection_id,
    }));
  await insertQueueEntries(tx, 'schedule', entries);
}

/**
 * Spreads the starts of a slot evenly. Runs on the embedded log store start with the others of their organization, because starting its query
 * engine costs more than most runs. Runs on a connection are spread by detection, so that they do not reach the SIEM at the same time. The share is always
 * the same, from the random last bits of a UUIDv7.
 */
function spreadStart({ slotAt, schedule }: SlotRun, spreadMs: number): Date {
  const id = schedule.connection_id === null ? schedule.organization_id : schedule.detection_id;
  const share = Number.parseInt(id.slice(-8), 16) / 2 ** 32;
  return new Date(slotAt.getTime() + Math.floor(share * spreadMs));
}
