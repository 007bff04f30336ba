import { sql } from 'kysely';
import { belongsTo, type Expiry } from '../../platform/retention/organization-retention.store.ts';
import type { Budgets } from '../../platform/models/budgets.ts';
import { acrossOrgs, queryRow, queryRows, type Db, type Tx } from '../../platform/db/db.ts';
import type { AgentRow } from '../../detection/detections/record/detection-row.ts';
import { zonedCron } from '../../detection/detections/record/cron-schedule.ts';
import { isNotSuspended } from '../../platform/orgs/orgs.store.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { PageRequest } from '../../platform/lib/page-request.ts';
import type { ModelFailure } from '../../platform/models/model-error.ts';
import { addToRunDays, utcDay } from '../../detection/runs/run-model/runs.store.ts';
import type { AgentRun } from './agent-runs.schema.ts';

export type ScheduledAgent = {
  orgId: OrgId;
  agentId: string;
  type: AgentRow['built_in_agent_type'];
  modelAlias: string;
  prompt: string;
  budgets: Partial<Budgets>;
  cron: string | null;
  lastRunAt: Date | null;
};

type ScheduledAgentRow = Omit<ScheduledAgent, 'cron' | 'budgets'> &
  Pick<AgentRow, 'custom_cron_schedule' | 'cron_timezone' | 'detection_cadence' | 'budgets'>;

/** Lists enabled built-in agents of these types, those run longest ago first. Only agents with a schedule can be enabled. */
export async function listScheduledAgentsAcrossOrgs(db: Db, types: readonly string[]): Promise<ScheduledAgent[]> {
  const found = await acrossOrgs(
    db,
    (tx) =>
      queryRows<ScheduledAgentRow>(tx)`
        select a.organization_id as "orgId", a.id as "agentId", a.built_in_agent_type as type, a.model_alias as "modelAlias", p.prompt,
          f.last_run_at as "lastRunAt", a.custom_cron_schedule, a.cron_timezone, a.detection_cadence, a.budgets
        from agents a join agent_prompts p on p.organization_id = a.organization_id and p.id = a.active_prompt_id
        left join run_facts f on f.organization_id = a.organization_id and f.detection_id = a.id
        where a.is_built_in and a.built_in_agent_type = any(${types}::text[]) and a.enabled and ${isNotSuspended(sql`a.organization_id`)}
        order by f.last_run_at nulls first, a.id`,
  );
  return found.map(({ custom_cron_schedule, cron_timezone, detection_cadence, budgets, ...agent }) => ({
    ...agent,
    budgets: budgets === null ? {} : (JSON.parse(budgets) as Partial<Budgets>),
    cron: zonedCron({ custom_cron_schedule, cron_timezone, detection_cadence }),
  }));
}

const workerLostFailure: ModelFailure = {
  kind: 'worker_lost',
  blame: 'service',
  retryable: true,
  message: 'The process that executed the run ended.',
};

/** Starts a run and fails one left behind by an earlier process. Returns false if another process was faster. */
export async function startAgentRun(
  tx: Tx,
  { orgId, agentId, lastRunAt, modelAlias }: ScheduledAgent,
  run: { id: string; slotAt: Date | null; model: string | null; now: Date },
): Promise<boolean> {
  const claimed = await queryRow(tx)`
      insert into run_facts as f (organization_id, detection_id, last_run_at) values (${orgId}, ${agentId}, ${run.now})
      on conflict (organization_id, detection_id) do update set last_run_at = excluded.last_run_at
        where f.last_run_at is not distinct from ${lastRunAt}::timestamptz
      returning 1`;
  if (!claimed) return false;
  await sql`
    update agent_runs set status = 'failed', finished_at = ${run.now}, failure = ${JSON.stringify(workerLostFailure)}
    where organization_id = ${orgId} and agent_id = ${agentId} and status = 'running'`.execute(tx);
  await sql`
    insert into agent_runs (organization_id, id, agent_id, slot_at, status, started_at, model_alias, model)
    values (${orgId}, ${run.id}, ${agentId}, ${run.slotAt}, 'running', ${run.now}, ${modelAlias}, ${run.model})`.execute(
    tx,
  );
  return true;
}

export type AgentRunResult = {
  status: 'completed' | 'failed';
  outcome: Record<string, unknown>;
  failure: ModelFailure | null;
  triggered: boolean;
  itemIds: string[];
  tokens: number;
  costUsd: number | null;
};

type AgentKey = { orgId: OrgId; agentId: string };
type AgentRunKey = AgentKey & { id: string };

/** Ends a run and adds it to the daily roll-up. Does nothing if the run was already marked as lost. */
export async function finishAgentRun(
  tx: Tx,
  { orgId, agentId, id }: AgentRunKey,
  result: AgentRunResult,
  now: Date,
): Promise<void> {
  const { status, outcome, failure, triggered, itemIds, tokens, costUsd } = result;
  await sql`
    with finished as (
      update agent_runs set status = ${status}, finished_at = ${now}, outcome = ${JSON.stringify(outcome)},
        failure = ${failure && JSON.stringify(failure)}, item_ids = ${itemIds}, tokens = ${tokens}, cost_usd = ${costUsd}
      where organization_id = ${orgId} and id = ${id} and status = 'running' returning 1
    )
    ${addToRunDays(sql`
      select ${orgId}::uuid, ${agentId}::uuid, ${utcDay(now)}, '', 1, ${triggered ? 1 : 0}::int, 0::numeric, 0 from finished`)}`.execute(
    tx,
  );
}

/** A row of `agent_runs`. `outcome` and `failure` are JSON text. */
export type AgentRunRow = Omit<AgentRun, 'slotAt' | 'startedAt' | 'finishedAt' | 'outcome' | 'failure'> & {
  slotAt: Date | null;
  startedAt: Date;
  finishedAt: Date | null;
  outcome: string;
  failure: string | null;
};

export async function hasAgentRun(tx: Tx, { orgId, agentId, id }: AgentRunKey): Promise<boolean> {
  const found = await queryRow(tx)`
    select 1 from agent_runs where organization_id = ${orgId} and agent_id = ${agentId} and id = ${id}`;
  return found !== undefined;
}

/** Lists `limit` + 1 runs of a built-in agent, newest first. */
export function listAgentRuns(
  tx: Tx,
  { orgId, agentId }: AgentKey,
  { limit, after }: PageRequest,
): Promise<AgentRunRow[]> {
  return queryRows<AgentRunRow>(tx)`
      select id, agent_id as "agentId", status, slot_at as "slotAt", started_at as "startedAt", finished_at as "finishedAt",
        model_alias as "modelAlias", model, tokens, cost_usd as "costUsd", outcome, failure
      from agent_runs where organization_id = ${orgId} and agent_id = ${agentId}
        ${after ? sql`and (started_at, id) < (${after.at}, ${after.id}::uuid)` : sql``}
      order by started_at desc, id desc limit ${limit + 1}`;
}

/** Deletes at most `limit` runs of built-in agents that have ended. The daily roll-up stays. Returns their number. */
export async function deleteOldAgentRunsAcrossOrgs(tx: Tx, expiry: Expiry, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from agent_runs where (organization_id, id) in (
      select organization_id, id from agent_runs where started_at < ${expiry.before} and ${belongsTo(expiry)}
        and status <> 'running' limit ${limit})`.execute(tx);
  return Number(numAffectedRows ?? 0);
}
