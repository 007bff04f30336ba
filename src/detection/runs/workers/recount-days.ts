import { sql } from 'kysely';
import { acrossOrgs, queryRow, queryRows, type Db } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { Logger } from '../../../platform/lib/logging/logger.ts';
import { runLoop } from '../../../platform/lib/concurrency/loop.ts';
import { addToRunDays } from '../run-model/runs.store.ts';
import type { RunMetrics } from './run-metrics.ts';

const dayMs = 86_400_000;
/** The days before today that 30-day figures include. Today is still being counted. */
const recountedDays = 29;
/** A run that waited longer than this before it started is not recounted, so that the read stays bounded. */
const waitDaysMax = 62;
const recountHour = 1;
const loggedDaysMax = 10;

export type DayCorrection = { orgId: string; detectionId: string; day: string };

type RecountDeps = { db: Db; clock: Clock; log: Logger; runMetrics: Pick<RunMetrics, 'recountCorrections'> };

/** Recounts the daily roll-up once each night, by slot time. Counts and logs its corrections. */
export function recountLoop({ db, clock, log, runMetrics }: RecountDeps, signal: AbortSignal): Promise<void> {
  let recountedOn = '';
  return runLoop({ name: 'recount', idleMs: 20 * 60_000, signal, log }, async () => {
    const now = clock();
    const today = now.toISOString().slice(0, 10);
    if (now.getUTCHours() !== recountHour || recountedOn === today) return false;
    const corrections = await recountDaysAcrossOrgs(db, now);
    runMetrics.recountCorrections.inc(corrections.length);
    if (corrections.length > 0)
      log.warn(
        { days: corrections.length, first: corrections.slice(0, loggedDaysMax) },
        'the recount corrected the daily roll-up of runs',
      );
    recountedOn = today;
    return false;
  });
}

/**
 * Recounts the runs of the 29 UTC days before today and corrects the daily roll-up. Both are read in one snapshot and the
 * difference is added, so that runs that end meanwhile stay counted. Returns the corrected days.
 */
export function recountDaysAcrossOrgs(db: Db, now: Date): Promise<DayCorrection[]> {
  const today = new Date(Math.floor(now.getTime() / dayMs) * dayMs);
  const from = new Date(today.getTime() - recountedDays * dayMs);
  const dueFrom = new Date(from.getTime() - waitDaysMax * dayMs);
  return acrossOrgs(db, async (tx) => {
    // Two concurrent recounts would add the same difference twice.
    const lock = await queryRow<{ acquired: boolean }>(tx)`select pg_try_advisory_xact_lock(8423003) as acquired`;
    if (!lock?.acquired) return [];
    await sql`set local statement_timeout = '15min'`.execute(tx);
    return queryRows<DayCorrection>(tx)`
        with counted as (
          select organization_id, detection_id, (finished_at at time zone 'UTC')::date as day, coalesce(score_basis, '') as score_basis,
            count(*) as runs, count(*) filter (where triggered) as triggered, coalesce(sum(score), 0) as score_sum, count(score) as scores
          from runs
          where due_at >= ${dueFrom} and finished_at >= ${from} and finished_at < ${today} and status in ('completed', 'failed')
          group by 1, 2, 3, 4
        ), rolled_up as (
          select d.* from run_days d join agents a on a.organization_id = d.organization_id and a.id = d.detection_id
          where d.day >= (${from}::timestamptz at time zone 'UTC')::date and d.day < (${today}::timestamptz at time zone 'UTC')::date
            and not a.is_built_in
        ), differences as (
          select organization_id, detection_id, day, score_basis, coalesce(c.runs, 0) - coalesce(r.runs, 0) as runs,
            coalesce(c.triggered, 0) - coalesce(r.triggered, 0) as triggered,
            coalesce(c.score_sum, 0) - coalesce(r.score_sum, 0) as score_sum, coalesce(c.scores, 0) - coalesce(r.scores, 0) as scores
          from counted c full join rolled_up r using (organization_id, detection_id, day, score_basis)
        )
        ${addToRunDays(sql`select * from differences where (runs, triggered, score_sum, scores) <> (0, 0, 0, 0)`)}
        returning organization_id as "orgId", detection_id as "detectionId", day`;
  });
}
