import { inOrg, type Db } from '../../platform/db/db.ts';
import { type Clock, withIsoTimes } from '../../platform/lib/time/clock.ts';
import { getAgent } from '../../detection/detections/built-in-agents.ts';
import { appError } from '../../platform/lib/errors.ts';
import { toPage, readPageRequest, type PageQuery } from '../../platform/lib/page-request.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { listStepPage } from '../../detection/runs/read-runs.ts';
import type { Detection } from '../../detection/detections/record/detection.schema.ts';
import { toRunRecord } from '../../detection/runs/run-model/run-record.ts';
import { findRun, listRuns, type RunRow } from '../../detection/runs/run-model/runs.store.ts';
import type { StepList } from '../../detection/runs/run-model/run-details.schema.ts';
import type { AgentRun, AgentRunList } from './agent-runs.schema.ts';
import { hasAgentRun, listAgentRuns, type AgentRunRow } from './agent-runs.store.ts';

export type ReadAgentRunsDeps = { db: Db; clock: Clock };

/** Returns a page of the runs of a response agent, newest first. Throws `conflict` for a detection, whose runs have their own path. */
export async function getAgentRuns(
  deps: ReadAgentRunsDeps,
  caller: Caller,
  id: string,
  query: PageQuery,
): Promise<AgentRunList> {
  const { limit, after } = readPageRequest(query);
  const { orgId } = caller;
  if (!(await requireResponse(deps, caller, id)).isBuiltIn) {
    const rows = await inOrg(deps.db, orgId, (tx) => listRuns(tx, orgId, id, { limit, after }));
    const { page, nextCursor } = toPage(rows, limit, (row) => ({ at: row.dueAt, id: row.id }));
    return { runs: page.map(toResponseRun), nextCursor };
  }
  const rows = await inOrg(deps.db, orgId, (tx) => listAgentRuns(tx, { orgId, agentId: id }, { limit, after }));
  const { page, nextCursor } = toPage(rows, limit, (row) => ({ at: row.startedAt, id: row.id }));
  return { runs: page.map(toAgentRun), nextCursor };
}

/** Returns a page of the steps of a run, in order. A run without a model has none. */
export async function getAgentRunSteps(
  deps: ReadAgentRunsDeps,
  caller: Caller,
  { id, runId }: { id: string; runId: string },
  query: PageQuery,
): Promise<StepList> {
  const { orgId } = caller;
  const { isBuiltIn } = await requireResponse(deps, caller, id);
  return inOrg(deps.db, orgId, async (tx) => {
    const isRun = isBuiltIn
      ? await hasAgentRun(tx, { orgId, agentId: id, id: runId })
      : (await findRun(tx, orgId, runId))?.detectionId === id;
    if (!isRun) throw appError('not_found', `Run ${runId} of agent ${id} not found.`);
    return listStepPage(tx, orgId, runId, query);
  });
}

async function requireResponse(deps: ReadAgentRunsDeps, caller: Caller, id: string): Promise<Detection> {
  const agent = await getAgent(deps, caller, id);
  if (agent.agentType === 'detection')
    throw appError('conflict', `Agent ${id} is a detection. Its runs are at /api/detections/${id}/runs.`);
  return agent;
}

function toResponseRun(row: RunRow): AgentRun {
  const { id, detectionId: agentId, status, slotAt, startedAt, finishedAt, ...run } = toRunRecord(row);
  const { modelAlias, model, tokens, costUsd, failure, event, customInstructions: question, entities } = run;
  const outcome = { event, question, verdict: entities[0] ?? null };
  return { id, agentId, status, slotAt, startedAt, finishedAt, modelAlias, model, tokens, costUsd, outcome, failure };
}

function toAgentRun(row: AgentRunRow): AgentRun {
  return {
    ...withIsoTimes(row),
    outcome: JSON.parse(row.outcome) as AgentRun['outcome'],
    failure: row.failure === null ? null : (JSON.parse(row.failure) as AgentRun['failure']),
  };
}
