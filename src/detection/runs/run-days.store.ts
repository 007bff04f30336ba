import { sql, type RawBuilder } from 'kysely';

/**
 * Statement that adds figures to the daily roll-up of runs. `source` selects organization_id, detection_id, day, score_basis,
 * runs, triggered, score_sum and scores. The figures may be negative.
 */
export const addToRunDays = (source: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  insert into run_days as d (organization_id, detection_id, day, score_basis, runs, triggered, score_sum, scores) ${source}
  on conflict (organization_id, detection_id, day, score_basis) do update set runs = d.runs + excluded.runs,
    triggered = d.triggered + excluded.triggered, score_sum = d.score_sum + excluded.score_sum, scores = d.scores + excluded.scores`;

/** Expression for the UTC day of a time. */
export const utcDay = (time: Date): RawBuilder<unknown> => sql`(${time}::timestamptz at time zone 'UTC')::date`;
