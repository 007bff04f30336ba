import { sql } from 'kysely';
import { acrossOrgs, queryRow, queryRows, type Db } from '../../platform/db/db.ts';
import { isNotSuspended } from '../../platform/orgs/orgs.store.ts';
import { planSlots, type DueSchedule } from './plan-slots.ts';

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
