import type { Db } from '../../src/platform/db/db.ts';
import { selectIn } from '../../test/support/select-rows.ts';

/** The time from a slot to the start of its run, in milliseconds. */
export type StartDelay = { orgId: string; runs: number; p50: number; p99: number; max: number };

/** Returns the start delays by organization. Delays below one hour are machine time, because the slot clock follows the machine's clock within an hour. */
export function readStartDelays(db: Db): Promise<StartDelay[]> {
  return selectIn(
    db,
  )<StartDelay>`select organization_id as "orgId", count(*) as runs, percentile_disc(0.5) within group (order by lag_ms) as p50,
        percentile_disc(0.99) within group (order by lag_ms) as p99, max(lag_ms) as max
        from runs where trigger = 'schedule' and lag_ms is not null group by 1`;
}

/** Returns the number of runs and of repeated attempts by outcome: the status with its reason or failure kind. */
export function readRunOutcomes(db: Db): Promise<{ outcome: string; runs: number; retries: number }[]> {
  return selectIn(db)<{ outcome: string; runs: number; retries: number }>`
        select concat_ws(' ', status, coalesce(status_reason, failure::json->>'kind')) as outcome, count(*) as runs, sum(greatest(attempt - 1, 0)) as retries
        from runs group by 1 order by 2 desc`;
}

export function readGaps(db: Db): Promise<{ reason: string; gaps: number; hours: number }[]> {
  return selectIn(db)<{ reason: string; gaps: number; hours: number }>`
        select reason, count(*) as gaps, sum(extract(epoch from gap_to - gap_from) / 3600) as hours from gaps group by 1 order by 1`;
}

/** Counts the detection days whose stored statistics differ from a recount of the runs. */
export async function countWrongStatisticDays(db: Db): Promise<number> {
  const [result] = await selectIn(db)<{ n: number }>`
        with counted as (
          select organization_id, detection_id, (finished_at at time zone 'UTC')::date as day, count(*) as runs,
            count(*) filter (where triggered) as triggered, coalesce(sum(score), 0) as score_sum, count(score) as scores
          from runs where status in ('completed', 'failed') group by 1, 2, 3
        ), rolled as (
          select organization_id, detection_id, day, sum(runs) as runs, sum(triggered) as triggered, sum(score_sum) as score_sum,
            sum(scores) as scores from run_days group by 1, 2, 3
        )
        select count(*) as n from counted c full join rolled r using (organization_id, detection_id, day)
        where (c.runs, c.triggered, c.score_sum, c.scores) is distinct from (r.runs, r.triggered, r.score_sum, r.scores)`;
  return result!.n;
}
