import type { Db } from '../src/platform/db/db.ts';
import { selectIn } from '../test/support/select-rows.ts';

/**
 * The work left at slot time `now`. `waiting` counts runs that are paused after a failed attempt, `repeats` the windows that are due to be examined
 * again. `later` counts those that become due later or in a run.
 */
export type RemainingWork = { due: number; busy: number; waiting: number; repeats: number; later: number; pending: number; candidates: number }; // prettier-ignore

export async function readRemainingWork(db: Db, now: Date): Promise<RemainingWork> {
  const [work] = await selectIn(
    db,
  )<RemainingWork>`select (select count(*) from schedules where active and next_slot_at <= ${now}) as due,
    (select count(*) from run_queue where state = 'running' or retry_at is null or retry_at <= clock_timestamp()) as busy,
    (select count(*) from run_queue where state = 'queued' and retry_at > clock_timestamp()) as waiting,
    (select count(*) from rechecks where due_at <= ${now}) as repeats,
    (select count(*) from rechecks where due_at > ${now}) + (select count(*) from revisits) as later,
    (select count(*) from pending_windows) as pending,
    (select count(*) from candidates where state = 'pending') as candidates`;
  return work!;
}

/** Returns whether the hour's work is done: no slot is due, no run can be claimed or is running, and no window must be examined again. */
export const isHourDone = ({ due, busy, repeats }: RemainingWork): boolean => due + busy + repeats === 0;

export const isEverythingDone = (work: RemainingWork): boolean => Object.values(work).every((n) => n === 0);
