import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { type ModelUsage, sumOfCosts } from '../../platform/models/model-usage.store.ts';
import type { DetectionKey } from '../scheduling/timeline.ts';

/** Returns how many verdicts the scheduled runs of a query gave by UTC day since a time, oldest first. Days without a run are absent. */
export const listVerdictDays = (
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  { query, since }: { query: string; since: Date },
): Promise<{ day: string; verdicts: number }[]> =>
  queryRows<{ day: string; verdicts: number }>(tx)`
      select (due_at at time zone 'UTC')::date as day, sum(json_array_length(entities::json)) as verdicts from runs
      where organization_id = ${orgId} and detection_id = ${detectionId} and due_at >= ${since} and trigger = 'schedule' and status = 'completed'
        and query = ${query}
      group by 1 order by 1`;

/**
 * What the verdicts of runs cost. `deviation` is the standard deviation of the tokens per verdict between runs, null with less than two. `byAlias` has
 * what their detections spent in the same time, also on replays and tests.
 */
export type VerdictSpend = Omit<ModelUsage, 'alias'> & {
  runs: number;
  verdicts: number;
  deviation: number | null;
  byAlias: ModelUsage[];
};

const runsMax = 5_000;

/** Returns what verdicts of a model alias cost since a time, of one detection or of all, by the latest 5,000 runs with such verdicts. */
export async function readVerdictSpend(
  tx: Tx,
  orgId: OrgId,
  { alias, detectionId, since }: { alias: string; detectionId?: string | undefined; since: Date },
): Promise<VerdictSpend> {
  const ofDetection = detectionId === undefined ? sql`` : sql`and detection_id = ${detectionId}`;
  const row = await queryRow<Omit<VerdictSpend, 'byAlias'> & { detectionIds: string[] | null }>(tx)`
      select count(*) as runs, coalesce(sum(verdicts), 0) as verdicts, coalesce(sum(calls), 0) as calls, coalesce(sum(tokens), 0) as tokens,
        ${sumOfCosts} as "costUsd", stddev_samp(tokens::float8 / verdicts) as deviation, array_agg(distinct detection_id::text) as "detectionIds"
      from (
        select detection_id, calls, tokens, cost_usd, (judging::json ->> 'verdicts')::int as verdicts from runs
        where organization_id = ${orgId} and due_at >= ${since} and status = 'completed' and model_alias = ${alias} and tokens > 0 ${ofDetection}
        order by due_at desc limit ${runsMax}) r
      where verdicts > 0`;
  const { detectionIds, ...spend } = row!;
  const byAlias = await queryRows<ModelUsage>(tx)`
      select alias, sum(calls) as calls, sum(tokens) as tokens, ${sumOfCosts} as "costUsd" from model_usage
      where organization_id = ${orgId} and detection_id = any(${detectionIds ?? []}::uuid[]) and day >= ${since}::timestamptz::date and tokens > 0
      group by alias order by 3 desc, alias`;
  return { ...spend, byAlias };
}
