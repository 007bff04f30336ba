import type { Db } from '../src/platform/db/db.ts';
import { selectIn } from '../test/support/select-rows.ts';

/** The work left at slot time `now`. `waiting` counts runs that are paused after a failed attempt. */
export type RemainingWork = { due: number; busy: number; waiting: number; pending: number; candidates: number };

export async function readRemainingWork(db: Db, now: Date): Promise<RemainingWork> {
  const [work] = await selectIn(
    db,
  )<RemainingWork>`select (select count(*) from schedules where active and next_slot_at <= ${now}) as due,
    (select count(*) from run_queue where state = 'running' or retry_at is null or retry_at <= clock_timestamp()) as busy,
    (select count(*) from run_queue where state = 'queued' and retry_at > clock_timestamp()) as waiting,
    (select count(*) from pending_windows) as pending,
    (select count(*) from candidates where state = 'pending') as candidates`;
  return work!;
}

/** Reports whether the hour's work is done: no slot is due, and no run can be claimed or is running. */
export const isHourDone = ({ due, busy }: RemainingWork): boolean => due + busy === 0;

export const isEverythingDone = (work: RemainingWork): boolean => Object.values(work).every((n) => n === 0);
