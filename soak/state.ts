import { sql } from 'kysely';
import { acrossOrgs, row, type Db } from '../src/platform/db/db.ts';

/** What is still to do at slot time `now`. `waiting`: runs that pause after a failed attempt. */
export type Left = { due: number; busy: number; waiting: number; pending: number; candidates: number };

export async function whatIsLeft(db: Db, now: Date): Promise<Left> {
  const left = await acrossOrgs(db, (tx) =>
    row(
      tx,
      sql<Left>`select (select count(*) from schedules where active and next_slot_at <= ${now}) as due,
        (select count(*) from run_queue where state = 'running' or retry_at is null or retry_at <= clock_timestamp()) as busy,
        (select count(*) from run_queue where state = 'queued' and retry_at > clock_timestamp()) as waiting,
        (select count(*) from pending_windows) as pending,
        (select count(*) from candidates where state = 'pending') as candidates`,
    ),
  );
  return left!;
}

/** The hour's work is done: nothing is due, and what can be claimed has ended. */
export const isHourDone = ({ due, busy }: Left): boolean => due + busy === 0;

export const isAllDone = (left: Left): boolean => Object.values(left).every((n) => n === 0);
