import { sql } from 'kysely';
import type { Spent } from './budgets.ts';
import { row, type Tx } from '../db/db.ts';
import type { OrgId } from '../lib/org-id.ts';
import type { Run } from '../../detection/runs/run-types.ts';

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
  return toSpent(found);
}

const toSpent = (found: UsageRow): { detectionDay: Spent; organizationMonth: Spent } => ({
  detectionDay: { tokens: found.day_tokens, costUsd: found.day_cost },
  organizationMonth: { tokens: found.month_tokens, costUsd: found.month_cost },
});

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

/** The same, and on the run that the caller's fence holds, with the time since the step before. */
export async function addUsage(tx: Tx, run: Run, usage: Usage & { ms: number }, now: Date): Promise<void> {
  if (usage.tokens > 0) await countUsage(tx, run, usage, now);
  await sql`update runs set tokens = tokens + ${usage.tokens}, cost_usd = cost_usd + ${usage.costUsd}, elapsed_ms = elapsed_ms + ${usage.ms}
    where organization_id = ${run.orgId} and due_at = ${run.claim.dueAt} and id = ${run.id}`.execute(tx);
}

type Reserving = { orgId: OrgId; runId: string; detectionId: string; alias: string };

/** Lets one admission to an alias pass at a time, to the end of the transaction; drops what lost workers left. */
export async function lockAlias(tx: Tx, { orgId, alias }: Pick<Reserving, 'orgId' | 'alias'>): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`${orgId} ${alias}`}, 14))`.execute(tx);
  await sql`delete from model_reservations
    where organization_id = ${orgId} and alias = ${alias} and until_at < clock_timestamp()`.execute(tx);
}

/** What other runs' steps under way may yet use up of the alias. */
export async function readReserved(
  tx: Tx,
  { orgId, runId, detectionId, alias }: Reserving,
): Promise<{ detectionDay: Spent; organizationMonth: Spent }> {
  const own = sql`filter (where detection_id = ${detectionId})`;
  const found = (await row(
    tx,
    sql<UsageRow>`
      select coalesce(sum(tokens) ${own}, 0) as day_tokens, coalesce(sum(cost_usd) ${own}, 0) as day_cost,
        coalesce(sum(tokens), 0) as month_tokens, coalesce(sum(cost_usd), 0) as month_cost
      from model_reservations
      where organization_id = ${orgId} and alias = ${alias} and run_id <> ${runId}`,
  ))!;
  return toSpent(found);
}

/** `forMs`: a worker that is gone holds nothing back for longer. */
export async function reserve(
  tx: Tx,
  { orgId, runId, detectionId, alias }: Reserving,
  most: Spent & { forMs: number },
): Promise<void> {
  await sql`
    insert into model_reservations (organization_id, run_id, detection_id, alias, tokens, cost_usd, until_at)
    values (${orgId}, ${runId}, ${detectionId}, ${alias}, ${most.tokens}, ${most.costUsd}, clock_timestamp() + ${`${most.forMs} milliseconds`}::interval)
    on conflict (organization_id, run_id) do update set detection_id = excluded.detection_id, alias = excluded.alias, tokens = excluded.tokens,
      cost_usd = excluded.cost_usd, until_at = excluded.until_at`.execute(tx);
}

export async function release(tx: Tx, { orgId, runId }: Pick<Reserving, 'orgId' | 'runId'>): Promise<void> {
  await sql`delete from model_reservations where organization_id = ${orgId} and run_id = ${runId}`.execute(tx);
}
