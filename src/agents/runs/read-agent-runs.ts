import { inOrg, type Db } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { getAgent } from '../../detection/detections/built-in-agents.ts';
import { appError } from '../../platform/lib/errors.ts';
import { toPage, readPageRequest, type PageQuery } from '../../platform/lib/page-request.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { listStepPage } from '../../detection/runs/read-runs.ts';
import type { StepList } from '../../detection/runs/run-model/run-details.schema.ts';
import type { AgentRun, AgentRunList } from './agent-runs.schema.ts';
import { hasAgentRun, listAgentRuns, type AgentRunRow } from './agent-runs.store.ts';

export type ReadAgentRunsDeps = { db: Db; clock: Clock };

/** Returns a page of the runs of a built-in agent, newest first. Throws `conflict` for a detection, whose runs have their own path. */
export async function getAgentRuns(
  deps: ReadAgentRunsDeps,
  caller: Caller,
  id: string,
  query: PageQuery,
): Promise<AgentRunList> {
  const { limit, after } = readPageRequest(query);
  await checkBuiltIn(deps, caller, id);
  const agent = { orgId: caller.orgId, agentId: id };
  const rows = await inOrg(deps.db, caller.orgId, (tx) => listAgentRuns(tx, agent, { limit, after }));
  const { page, nextCursor } = toPage(rows, limit, (row) => ({ at: row.startedAt, id: row.id }));
  return { runs: page.map(toAgentRun), nextCursor };
}

/** Returns a page of the model steps of a run, in order. A run without a model has none. */
export async function getAgentRunSteps(
  deps: ReadAgentRunsDeps,
  caller: Caller,
  { id, runId }: { id: string; runId: string },
  query: PageQuery,
): Promise<StepList> {
  await checkBuiltIn(deps, caller, id);
  return inOrg(deps.db, caller.orgId, async (tx) => {
    if (!(await hasAgentRun(tx, { orgId: caller.orgId, agentId: id, id: runId })))
      throw appError('not_found', `Run ${runId} of agent ${id} not found.`);
    return listStepPage(tx, caller.orgId, runId, query);
  });
}

async function checkBuiltIn(deps: ReadAgentRunsDeps, caller: Caller, id: string): Promise<void> {
  const { isBuiltIn } = await getAgent(deps, caller, id);
  if (!isBuiltIn) throw appError('conflict', `Agent ${id} is a detection. Its runs are at /api/detections/${id}/runs.`);
}

function toAgentRun(row: AgentRunRow): AgentRun {
  return {
    ...row,
    slotAt: row.slotAt?.toISOString() ?? null,
    startedAt: row.startedAt.toISOString(),
    finishedAt: row.finishedAt?.toISOString() ?? null,
    outcome: JSON.parse(row.outcome) as AgentRun['outcome'],
    failure: row.failure === null ? null : (JSON.parse(row.failure) as AgentRun['failure']),
  };
}
