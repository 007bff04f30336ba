import { inOrg } from '../../platform/db/db.ts';
import type { Deps } from '../../app/deps.ts';
import { getAgent } from '../../detection/detections/built-in-agents/built-in-agents.ts';
import { appError } from '../../platform/lib/errors.ts';
import { pageOf, pageRequest, type PageQuery } from '../../platform/lib/page-request.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { pageOfSteps } from '../../detection/runs/read-steps.ts';
import type { StepList } from '../../detection/runs/run-details.schema.ts';
import type { AgentRun, AgentRunList } from './agent-runs.schema.ts';
import { hasAgentRun, listAgentRuns, type AgentRunRow } from './agent-runs.store.ts';

/** What a built-in agent did, newest first. 409 for a detection: its runs have an address of their own. */
export async function getAgentRuns(
  deps: Pick<Deps, 'db' | 'clock'>,
  caller: Caller,
  id: string,
  query: PageQuery,
): Promise<AgentRunList> {
  const { limit, after } = pageRequest(query);
  await checkBuiltIn(deps, caller, id);
  const ref = { orgId: caller.orgId, agentId: id };
  const found = await inOrg(deps.db, caller.orgId, (tx) => listAgentRuns(tx, ref, { limit, after }));
  const { page, nextCursor } = pageOf(found, limit, (row) => ({ at: row.startedAt, id: row.id }));
  return { runs: page.map(toRun), nextCursor };
}

/** What a built-in agent's model was asked in a run and answered, in order. A run without a model has none. */
export async function getAgentRunSteps(
  deps: Pick<Deps, 'db' | 'clock'>,
  caller: Caller,
  { id, runId }: { id: string; runId: string },
  query: PageQuery,
): Promise<StepList> {
  await checkBuiltIn(deps, caller, id);
  return inOrg(deps.db, caller.orgId, async (tx) => {
    const isThere = await hasAgentRun(tx, { orgId: caller.orgId, agentId: id, id: runId });
    if (!isThere) throw appError('not_found', `Run ${runId} of agent ${id} not found.`);
    return pageOfSteps(tx, caller.orgId, runId, query);
  });
}

async function checkBuiltIn(deps: Pick<Deps, 'db' | 'clock'>, caller: Caller, id: string): Promise<void> {
  const { isBuiltIn } = await getAgent(deps, caller, id);
  if (!isBuiltIn) throw appError('conflict', `${id} is a detection; its runs are at /api/detections/${id}/runs.`);
}

function toRun(row: AgentRunRow): AgentRun {
  return {
    ...row,
    slotAt: row.slotAt?.toISOString() ?? null,
    startedAt: row.startedAt.toISOString(),
    finishedAt: row.finishedAt?.toISOString() ?? null,
    outcome: JSON.parse(row.outcome) as AgentRun['outcome'],
    failure: row.failure === null ? null : (JSON.parse(row.failure) as AgentRun['failure']),
  };
}
