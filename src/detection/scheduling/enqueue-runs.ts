import { sql } from 'kysely';
import { acrossOrgs, rows, type Db } from '../../platform/db/db.ts';
import { planSlots, type DueSchedule } from './plan-slots.ts';

// One pass plans at most this many slots of a detection; after a longer downtime the next pass goes on.
const slotsMax = 500;

/**
 * Turns due slots of at most `limit` detections into runs, one per slot. Any number of schedulers may call this at once.
 * `now` is slot time; starts are spread over `spreadMs`. Answers how many runs were queued and whether more is due.
 */
export async function enqueueDueRunsAcrossOrgs(
  db: Db,
  at: { now: Date; spreadMs: number; limit: number },
): Promise<{ queued: number; more: boolean }> {
  return acrossOrgs(db, async (tx) => {
    const due = await rows(
      tx,
      sql<DueSchedule>`
        select organization_id, detection_id, cron, next_slot_at, boundary_at, lookback_minutes, delay_ms, connection_id
        from schedules where active and next_slot_at <= ${at.now}
        order by next_slot_at limit ${at.limit} for update skip locked`,
    );
    const planned = await planSlots(tx, due, { now: at.now, spreadMs: at.spreadMs, slotsMax });
    return { queued: planned.queued, more: planned.more || due.length === at.limit };
  });
}

/** The next slot that any detection waits for, or undefined where none has a schedule. */
export async function nextDueAcrossOrgs(db: Db): Promise<Date | undefined> {
  return acrossOrgs(db, async (tx) => {
    const [found] = await rows(
      tx,
      sql<{ at: Date | null }>`select min(next_slot_at) as at from schedules where active`,
    );
    return found?.at ?? undefined;
  });
}
