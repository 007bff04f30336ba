import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../db/db.ts';
import { lockName } from '../db/lock-name.store.ts';
import type { OrgId } from '../lib/org-id.ts';
import { readQuotas } from '../orgs/limits/limits.store.ts';
import type { Spend, SpendQuotas } from './budgets.ts';

type SpenderRef = { orgId: OrgId; detectionId: string };
type UsageRow = { day_tokens: number; day_cost: number; month_tokens: number; month_cost: number };
type PeriodSpend = { detectionDay: Spend; organizationMonth: Spend };
/** The spend that other runs have reserved, and that other conversations of the same run have (`siblings`). */
type ReservedSpend = PeriodSpend & { siblings: Spend };

/** Returns what the detection spent on the alias today and its organization this month, by the UTC day of slot time. */
export async function readUsage(
  tx: Tx,
  { orgId, detectionId }: SpenderRef,
  alias: string,
  now: Date,
): Promise<PeriodSpend> {
  const day = now.toISOString().slice(0, 10);
  const today = sql`filter (where detection_id = ${detectionId} and day = ${day}::date)`;
  const usage = await queryRow<UsageRow>(tx)`
      select coalesce(sum(tokens) ${today}, 0) as day_tokens, coalesce(sum(cost_usd) ${today}, 0) as day_cost,
        coalesce(sum(tokens), 0) as month_tokens, coalesce(sum(cost_usd), 0) as month_cost
      from model_usage
      where organization_id = ${orgId} and alias = ${alias} and day >= date_trunc('month', ${day}::date) and day <= ${day}::date`;
  return toPeriodSpend(usage!);
}

const toPeriodSpend = (usage: UsageRow): PeriodSpend => ({
  detectionDay: { tokens: usage.day_tokens, costUsd: usage.day_cost },
  organizationMonth: { tokens: usage.month_tokens, costUsd: usage.month_cost },
});

export type ModelUsage = Spend & { alias: string; calls: number };

/** The sum of a column of costs, which is null if one of them is unknown, and 0 without any. */
export const sumOfCosts = sql`case when bool_or(cost_usd is null) then null else coalesce(sum(cost_usd), 0) end`;

/** Returns what the organization spent this UTC month of slot time, by alias. */
export function listAliasUsage(tx: Tx, orgId: OrgId, now: Date): Promise<ModelUsage[]> {
  const day = now.toISOString().slice(0, 10);
  return queryRows<ModelUsage>(tx)`
      select alias, sum(calls) as calls, sum(tokens) as tokens, ${sumOfCosts} as "costUsd" from model_usage
      where organization_id = ${orgId} and day >= date_trunc('month', ${day}::date) and day <= ${day}::date group by alias`;
}

/** Counts a call towards the daily and monthly budgets. */
export async function countUsage(
  tx: Tx,
  { orgId, detectionId }: SpenderRef,
  { alias, calls, tokens, costUsd }: ModelUsage,
  now: Date,
): Promise<void> {
  await sql`
    insert into model_usage as u (organization_id, detection_id, alias, day, calls, tokens, cost_usd)
    values (${orgId}, ${detectionId}, ${alias}, ${now.toISOString().slice(0, 10)}::date, ${calls}, ${tokens}, ${costUsd})
    on conflict (organization_id, detection_id, alias, day) do update set calls = u.calls + excluded.calls, tokens = u.tokens + excluded.tokens,
      cost_usd = u.cost_usd + excluded.cost_usd`.execute(tx);
}

type ReservationKey = SpenderRef & { runId: string; conversation: string; alias: string };

/** Serializes budget checks of an alias until the transaction ends, and deletes expired reservations. */
export async function lockAlias(tx: Tx, { orgId, alias }: Pick<ReservationKey, 'orgId' | 'alias'>): Promise<void> {
  await lockName(tx, `spend ${orgId} ${alias}`);
  await sql`delete from model_reservations
    where organization_id = ${orgId} and alias = ${alias} and until_at < clock_timestamp()`.execute(tx);
}

/** Returns what other conversations have reserved of the alias for their current steps. */
export async function readReserved(
  tx: Tx,
  { orgId, runId, conversation, detectionId, alias }: ReservationKey,
): Promise<ReservedSpend> {
  const sameDetection = sql`filter (where run_id <> ${runId} and detection_id = ${detectionId})`;
  const otherRun = sql`filter (where run_id <> ${runId})`;
  const sibling = sql`filter (where run_id = ${runId})`;
  const reserved = await queryRow<UsageRow & { sibling_tokens: number; sibling_cost: number }>(tx)`
      select coalesce(sum(tokens) ${sameDetection}, 0) as day_tokens, coalesce(sum(cost_usd) ${sameDetection}, 0) as day_cost,
        coalesce(sum(tokens) ${otherRun}, 0) as month_tokens, coalesce(sum(cost_usd) ${otherRun}, 0) as month_cost,
        coalesce(sum(tokens) ${sibling}, 0) as sibling_tokens, coalesce(sum(cost_usd) ${sibling}, 0) as sibling_cost
      from model_reservations
      where organization_id = ${orgId} and alias = ${alias} and (run_id, conversation) <> (${runId}, ${conversation})`;
  const { sibling_tokens: tokens, sibling_cost: costUsd } = reserved!;
  return { ...toPeriodSpend(reserved!), siblings: { tokens, costUsd } };
}

/** Returns what the operator allows the organization to spend on all models. */
export async function readSpendQuotas(tx: Tx, orgId: OrgId): Promise<SpendQuotas> {
  const { modelUsdPerDay, modelUsdPerMonth } = await readQuotas(tx, orgId);
  return { usdPerDay: modelUsdPerDay, usdPerMonth: modelUsdPerMonth };
}

/**
 * Returns the cost of all models of the organization today and this month in US dollars, with what other runs have reserved, and what other
 * conversations of the same run have.
 */
export async function readAllModels(
  tx: Tx,
  { orgId, runId, conversation }: Pick<ReservationKey, 'orgId' | 'runId' | 'conversation'>,
  now: Date,
): Promise<{ day: number; month: number; siblings: number }> {
  const day = now.toISOString().slice(0, 10);
  const row = await queryRow<{ day: number; month: number; siblings: number }>(tx)`
    select u.day + r.others as day, u.month + r.others as month, r.siblings from
      (select coalesce(sum(cost_usd) filter (where day = ${day}::date), 0) as day, coalesce(sum(cost_usd), 0) as month from model_usage
       where organization_id = ${orgId} and day >= date_trunc('month', ${day}::date) and day <= ${day}::date) u,
      (select coalesce(sum(cost_usd) filter (where run_id <> ${runId}), 0) as others,
         coalesce(sum(cost_usd) filter (where run_id = ${runId}), 0) as siblings
       from model_reservations where organization_id = ${orgId} and (run_id, conversation) <> (${runId}, ${conversation})
         and until_at >= clock_timestamp()) r`;
  return row!;
}

/**
 * Stores the reservation of a conversation's next step. It expires after `forMs`, so a lost worker does not block a budget forever. Its commit does not
 * wait for the disk: a crash of the database server ends the step too.
 */
export async function storeReservation(
  tx: Tx,
  { orgId, runId, conversation, detectionId, alias }: ReservationKey,
  { tokens, costUsd, forMs }: Spend & { forMs: number },
): Promise<void> {
  await sql`
    insert into model_reservations (organization_id, run_id, conversation, detection_id, alias, tokens, cost_usd, until_at)
    values (${orgId}, ${runId}, ${conversation}, ${detectionId}, ${alias}, ${tokens}, ${costUsd}, clock_timestamp() + ${`${forMs} milliseconds`}::interval)
    on conflict (organization_id, run_id, conversation) do update set detection_id = excluded.detection_id, alias = excluded.alias, tokens = excluded.tokens,
      cost_usd = excluded.cost_usd, until_at = excluded.until_at
    returning set_config('synchronous_commit', 'off', true)`.execute(tx);
}

/** Deletes the reservation of a conversation, or all of a run. */
export async function releaseReservation(
  tx: Tx,
  { orgId, runId, conversation }: Pick<ReservationKey, 'orgId' | 'runId'> & { conversation?: string },
): Promise<void> {
  await sql`delete from model_reservations where organization_id = ${orgId} and run_id = ${runId}
    ${conversation === undefined ? sql`` : sql`and conversation = ${conversation}`}`.execute(tx);
}
