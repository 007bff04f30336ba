import { sql } from 'kysely';
import type { Budgets } from '../../platform/models/budgets.ts';
import { acrossOrgs, row, rows, type Db, type Tx } from '../../platform/db/db.ts';
import type { Agent } from '../../detection/detections/record/detection-row.ts';
import { effectiveCron } from '../../detection/detections/record/cadence.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Mark } from '../../platform/lib/page-request.ts';

export type Scheduled = {
  orgId: OrgId;
  agentId: string;
  type: Agent['built_in_agent_type'];
  modelAlias: string;
  prompt: string;
  budgets: Partial<Budgets>;
  cron: string | null;
  lastRunAt: Date | null;
};

type Row = Omit<Scheduled, 'cron' | 'budgets'> & Pick<Agent, 'custom_cron_schedule' | 'detection_cadence' | 'budgets'>;

/** The built-in agents of these types that are switched on, which they are only with a schedule; the one run longest ago first. */
export async function listScheduledAcrossOrgs(db: Db, types: readonly string[]): Promise<Scheduled[]> {
  const found = await acrossOrgs(db, (tx) =>
    rows(
      tx,
      sql<Row>`
        select a.organization_id as "orgId", a.id as "agentId", a.built_in_agent_type as type, a.model_alias as "modelAlias", p.prompt,
          f.last_run_at as "lastRunAt", a.custom_cron_schedule, a.detection_cadence, a.budgets
        from agents a join agent_prompts p on p.organization_id = a.organization_id and p.id = a.active_prompt_id
        left join run_facts f on f.organization_id = a.organization_id and f.detection_id = a.id
        where a.is_built_in and a.built_in_agent_type = any(${types}::text[]) and a.enabled
        order by f.last_run_at nulls first, a.id`,
    ),
  );
  return found.map(({ custom_cron_schedule, detection_cadence, budgets, ...one }) => ({
    ...one,
    budgets: budgets === null ? {} : (JSON.parse(budgets) as Partial<Budgets>),
    cron: effectiveCron({ custom_cron_schedule, detection_cadence }),
  }));
}

const workerLost = { kind: 'worker_lost', blame: 'us', retryable: true, message: 'The process that ran it ended.' };

/** Begins a run and ends what an earlier process left behind. False: another process began it since the agent was listed. */
export async function beginRun(
  tx: Tx,
  { orgId, agentId, lastRunAt, modelAlias }: Scheduled,
  run: { id: string; slotAt: Date | null; model: string | null; now: Date },
): Promise<boolean> {
  const claimed = await row(
    tx,
    sql`
      insert into run_facts as f (organization_id, detection_id, last_run_at) values (${orgId}, ${agentId}, ${run.now})
      on conflict (organization_id, detection_id) do update set last_run_at = excluded.last_run_at
        where f.last_run_at is not distinct from ${lastRunAt}::timestamptz
      returning 1`,
  );
  if (!claimed) return false;
  await sql`
    update agent_runs set status = 'failed', finished_at = ${run.now}, failure = ${JSON.stringify(workerLost)}
    where organization_id = ${orgId} and agent_id = ${agentId} and status = 'running'`.execute(tx);
  await sql`
    insert into agent_runs (organization_id, id, agent_id, slot_at, status, started_at, model_alias, model)
    values (${orgId}, ${run.id}, ${agentId}, ${run.slotAt}, 'running', ${run.now}, ${modelAlias}, ${run.model})`.execute(
    tx,
  );
  return true;
}

export type RunEnd = {
  status: 'completed' | 'failed';
  outcome: Record<string, unknown>;
  failure: unknown;
  triggered: boolean;
  itemIds: string[];
  tokens: number;
  costUsd: number;
};

/** Ends a run and counts it towards the agent's 30 days. Whoever was given up on meanwhile changes nothing. */
export async function endRun(
  tx: Tx,
  { orgId, agentId, id }: { orgId: OrgId; agentId: string; id: string },
  end: RunEnd,
  now: Date,
): Promise<void> {
  await sql`
    with done as (
      update agent_runs set status = ${end.status}, finished_at = ${now}, outcome = ${JSON.stringify(end.outcome)},
        failure = ${end.failure === null ? null : JSON.stringify(end.failure)}, item_ids = ${end.itemIds}, tokens = ${end.tokens},
        cost_usd = ${end.costUsd}
      where organization_id = ${orgId} and id = ${id} and status = 'running' returning 1
    )
    insert into run_days as d (organization_id, detection_id, day, score_basis, runs, triggered)
    select ${orgId}::uuid, ${agentId}::uuid, (${now}::timestamptz at time zone 'UTC')::date, '', 1, ${end.triggered ? 1 : 0} from done
    on conflict (organization_id, detection_id, day, score_basis) do update set runs = d.runs + 1,
      triggered = d.triggered + excluded.triggered`.execute(tx);
}

export type AgentRunRow = {
  id: string;
  agentId: string;
  status: 'running' | 'completed' | 'failed';
  slotAt: Date | null;
  startedAt: Date;
  finishedAt: Date | null;
  modelAlias: string;
  model: string | null;
  tokens: number;
  costUsd: number;
  outcome: string;
  failure: string | null;
};

export async function hasAgentRun(
  tx: Tx,
  { orgId, agentId, id }: { orgId: OrgId; agentId: string; id: string },
): Promise<boolean> {
  const found = await row(
    tx,
    sql`select 1 from agent_runs where organization_id = ${orgId} and agent_id = ${agentId} and id = ${id}`,
  );
  return found !== undefined;
}

/** Runs of a built-in agent, newest first. */
export function listAgentRuns(
  tx: Tx,
  { orgId, agentId }: { orgId: OrgId; agentId: string },
  { limit, after }: { limit: number; after: Mark | null },
): Promise<AgentRunRow[]> {
  return rows(
    tx,
    sql<AgentRunRow>`
      select id, agent_id as "agentId", status, slot_at as "slotAt", started_at as "startedAt", finished_at as "finishedAt",
        model_alias as "modelAlias", model, tokens, cost_usd as "costUsd", outcome, failure
      from agent_runs where organization_id = ${orgId} and agent_id = ${agentId}
        ${after ? sql`and (started_at, id) < (${after.at}, ${after.id}::uuid)` : sql``}
      order by started_at desc, id desc limit ${limit + 1}`,
  );
}
