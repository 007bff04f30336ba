import { sql } from 'kysely';
import { acrossOrgs, row, rows, type Db } from '../../platform/db/db.ts';
import type { Deps } from '../../app/deps.ts';
import { loop } from '../../platform/lib/loop.ts';
import { recountCorrections } from './run-metrics.ts';

const dayMs = 86_400_000;
/** The days that figures of 30 days are read from, but for today, which is still counted. */
const daysBack = 29;
/** A run that waited longer than this for its place is not recounted: what is read stays bounded. */
const waitDaysMax = 62;
const nightHour = 1;

export type Correction = { orgId: string; detectionId: string; day: string };

type RecountDeps = Pick<Deps, 'db' | 'clock' | 'log'> & { metrics: Pick<Deps['metrics'], 'registry'> };

/** Each night, by slot time, holds the roll-up against the runs; what differs is put right, counted, and stands in the log. */
export function recountLoop({ db, clock, log, metrics }: RecountDeps, signal: AbortSignal): Promise<void> {
  const counter = recountCorrections(metrics.registry);
  let done = '';
  return loop({ name: 'recount', idleMs: 20 * 60_000, signal, log }, async () => {
    const now = clock();
    const today = now.toISOString().slice(0, 10);
    if (now.getUTCHours() !== nightHour || done === today) return false;
    const corrections = await recountDaysAcrossOrgs(db, now);
    counter.inc(corrections.length);
    if (corrections.length > 0)
      log.warn(
        { days: corrections.length, first: corrections.slice(0, 10) },
        'the roll-up was not what a recount gives',
      );
    done = today;
    return false;
  });
}

/**
 * Recounts the runs of the 29 UTC days before today, and adds to each day of the roll-up what it lacks. Both are read at one moment,
 * and the difference is added, so that runs that end meanwhile stay counted. Answers the days that were wrong.
 */
export function recountDaysAcrossOrgs(db: Db, now: Date): Promise<Correction[]> {
  const today = new Date(Math.floor(now.getTime() / dayMs) * dayMs);
  const from = new Date(today.getTime() - daysBack * dayMs);
  const dueFrom = new Date(from.getTime() - waitDaysMax * dayMs);
  return acrossOrgs(db, async (tx) => {
    // Two that read the same difference would add it twice.
    const lock = await row(tx, sql<{ mine: boolean }>`select pg_try_advisory_xact_lock(8423003) as mine`);
    if (!lock?.mine) return [];
    await sql`set local statement_timeout = '15min'`.execute(tx);
    return rows(
      tx,
      sql<Correction>`
        with counted as (
          select organization_id, detection_id, (finished_at at time zone 'UTC')::date as day, coalesce(score_basis, '') as score_basis,
            count(*) as runs, count(*) filter (where triggered) as triggered, coalesce(sum(score), 0) as score_sum, count(score) as scores
          from runs
          where due_at >= ${dueFrom} and finished_at >= ${from} and finished_at < ${today} and status in ('completed', 'failed')
          group by 1, 2, 3, 4
        ), rolled as (
          select d.* from run_days d join agents a on a.organization_id = d.organization_id and a.id = d.detection_id
          where d.day >= (${from}::timestamptz at time zone 'UTC')::date and d.day < (${today}::timestamptz at time zone 'UTC')::date
            and not a.is_built_in
        ), lacking as (
          select organization_id, detection_id, day, score_basis, coalesce(c.runs, 0) - coalesce(r.runs, 0) as runs,
            coalesce(c.triggered, 0) - coalesce(r.triggered, 0) as triggered,
            coalesce(c.score_sum, 0) - coalesce(r.score_sum, 0) as score_sum, coalesce(c.scores, 0) - coalesce(r.scores, 0) as scores
          from counted c full join rolled r using (organization_id, detection_id, day, score_basis)
        )
        insert into run_days as d (organization_id, detection_id, day, score_basis, runs, triggered, score_sum, scores)
        select * from lacking where (runs, triggered, score_sum, scores) <> (0, 0, 0, 0)
        on conflict (organization_id, detection_id, day, score_basis) do update set runs = d.runs + excluded.runs,
          triggered = d.triggered + excluded.triggered, score_sum = d.score_sum + excluded.score_sum, scores = d.scores + excluded.scores
        returning organization_id as "orgId", detection_id as "detectionId", day`,
    );
  });
}
