import { sql } from 'kysely';
import type { Spent } from '../agent/budgets.ts';
import { row, type Tx } from '../db/db.ts';
import type { Run } from './run.ts';

type UsageRow = { day_tokens: number; day_cost: number; month_tokens: number; month_cost: number };

/** What the detection spent on the alias today, and its organization this month, by the UTC day of slot time. */
export async function readUsage(
  tx: Tx,
  { orgId, detectionId }: Pick<Run, 'orgId' | 'detectionId'>,
  alias: string,
  now: Date,
): Promise<{ detectionDay: Spent; organizationMonth: Spent }> {
  const day = now.toISOString().slice(0, 10);
  const today = sql`filter (where detection_id = ${detectionId} and day = ${day}::date)`;
  const found = (await row(
    tx,
    sql<UsageRow>`
      select coalesce(sum(tokens) ${today}, 0) as day_tokens, coalesce(sum(cost_usd) ${today}, 0) as day_cost,
        coalesce(sum(tokens), 0) as month_tokens, coalesce(sum(cost_usd), 0) as month_cost
      from model_usage
      where organization_id = ${orgId} and alias = ${alias} and day >= date_trunc('month', ${day}::date) and day <= ${day}::date`,
  ))!;
  return {
    detectionDay: { tokens: found.day_tokens, costUsd: found.day_cost },
    organizationMonth: { tokens: found.month_tokens, costUsd: found.month_cost },
  };
}

export type Usage = { alias: string; tokens: number; costUsd: number };

/** Counts a call towards the budgets of the day and the month. */
export async function countUsage(
  tx: Tx,
  { orgId, detectionId }: Pick<Run, 'orgId' | 'detectionId'>,
  { alias, tokens, costUsd }: Usage,
  now: Date,
): Promise<void> {
  await sql`
    insert into model_usage as u (organization_id, detection_id, alias, day, tokens, cost_usd)
    values (${orgId}, ${detectionId}, ${alias}, ${now.toISOString().slice(0, 10)}::date, ${tokens}, ${costUsd})
    on conflict (organization_id, detection_id, alias, day) do update set tokens = u.tokens + excluded.tokens,
      cost_usd = u.cost_usd + excluded.cost_usd`.execute(tx);
}

/** The same, and on the run that the caller's fence holds. */
export async function addUsage(tx: Tx, run: Run, usage: Usage, now: Date): Promise<void> {
  await countUsage(tx, run, usage, now);
  await sql`update runs set tokens = tokens + ${usage.tokens}, cost_usd = cost_usd + ${usage.costUsd}
    where organization_id = ${run.orgId} and due_at = ${run.claim.dueAt} and id = ${run.id}`.execute(tx);
}
