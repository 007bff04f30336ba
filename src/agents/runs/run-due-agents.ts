import { inOrg, type Db } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { parseStoredCron, nextSlot } from '../../platform/lib/time/cron.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import { runLoop } from '../../platform/lib/concurrency/loop.ts';
import { ModelError, type ModelFailure } from '../../platform/models/model-error.ts';
import type { Models } from '../../platform/models/models.ts';
import type { AgentTask, AgentWork } from '../built-in-agent.ts';
import {
  finishAgentRun,
  listScheduledAgentsAcrossOrgs,
  startAgentRun,
  type AgentRunResult,
  type ScheduledAgent,
} from './agent-runs.store.ts';
import type { Detection } from '../../detection/detections/record/detection.schema.ts';
import { refineRelevance, type RefineRelevanceDeps } from '../threat-relevancy/refine-relevance.ts';
import { researchThreats, type ResearchDeps } from '../threat-research/research-threats.ts';

// Runs of built-in agents have a pipeline of their own, and only share the steps, the daily roll-up and the failure format with
// runs of detections. They examine no windows, so they have no coverage, candidates or retries: a run that fails or is lost waits
// for the next slot. An agent has one run at a time, which `run_facts` serializes without a queue or leases.

type RunAgentsDeps = AgentWorkDeps & { db: Db; clock: Clock; log: Logger; models?: Models };

const idleMs = 5_000;
/** Less than the shortest interval of slots, so that a run ends or is lost before the next slot. */
const runMsMax = 30 * 60_000;

/** Runs due built-in agents until `signal` aborts. */
export function builtInAgentLoop(deps: RunAgentsDeps, signal: AbortSignal): Promise<void> {
  return runLoop({ name: 'agents', idleMs, signal, log: deps.log }, async () => {
    await runDueAgents(deps, signal);
    return false;
  });
}

/** Runs built-in agents whose slot is due or that never ran. Safe to call concurrently. Returns the number of runs. */
export async function runDueAgents(
  deps: RunAgentsDeps,
  signal: AbortSignal,
  workByType = agentWorkByType,
): Promise<number> {
  const now = deps.clock();
  let runs = 0;
  for (const agent of await listScheduledAgentsAcrossOrgs(deps.db, Object.keys(workByType))) {
    if (signal.aborted) break;
    const { cron, lastRunAt } = agent;
    const work = workByType[agent.type];
    if (cron === null || !work) continue;
    const slotAt = lastRunAt === null ? null : nextSlot(parseStoredCron(cron), lastRunAt);
    const isDue = lastRunAt === null || (slotAt !== null && slotAt <= now);
    if (isDue && (await runAgent(deps, agent, { work, slotAt, signal }))) runs += 1;
  }
  return runs;
}

type DueAgent = { work: AgentWork<AgentWorkDeps>; slotAt: Date | null; signal: AbortSignal };

/** Returns false if another process has started the run. */
async function runAgent(
  deps: RunAgentsDeps,
  agent: ScheduledAgent,
  { work, slotAt, signal }: DueAgent,
): Promise<boolean> {
  const { orgId, agentId, prompt, budgets } = agent;
  const now = deps.clock();
  const model = deps.models?.find(agent.modelAlias);
  const runId = uuidv7(now);
  const run = { id: runId, slotAt, model: model?.name ?? null, now };
  if (!(await inOrg(deps.db, orgId, (tx) => startAgentRun(tx, agent, run)))) return false;
  const task: AgentTask = {
    orgId,
    agentId,
    runId,
    model,
    prompt,
    budgets,
    signal: AbortSignal.any([signal, AbortSignal.timeout(runMsMax)]),
    spent: { tokens: 0, costUsd: 0 },
    promptedItemIds: [],
  };
  const outcome = await executeTask(deps, task, work);
  const result = { ...outcome, ...task.spent, itemIds: task.promptedItemIds };
  await inOrg(deps.db, orgId, (tx) => finishAgentRun(tx, { orgId, agentId, id: runId }, result, deps.clock()));
  return true;
}

/** Turns an error into a failed run, so that the agents of other organizations still run. */
async function executeTask(
  deps: RunAgentsDeps,
  task: AgentTask,
  work: AgentWork<AgentWorkDeps>,
): Promise<Pick<AgentRunResult, 'status' | 'failure' | 'outcome' | 'triggered'>> {
  try {
    return { status: 'completed', failure: null, ...(await work(deps, task)) };
  } catch (error) {
    const { agentId, runId } = task;
    deps.log.error({ agentId, runId, err: error }, 'run of a built-in agent failed');
    return { status: 'failed', failure: toAgentRunFailure(error), outcome: {}, triggered: false };
  }
}

function toAgentRunFailure(error: unknown): ModelFailure {
  if (error instanceof ModelError) return error.failure;
  const message = 'The run failed with an unexpected error. See the service log for its run ID.';
  return { kind: 'internal', blame: 'service', retryable: true, message };
}

type AgentWorkDeps = RefineRelevanceDeps & ResearchDeps;

/** The work of each built-in agent at its slots. An agent that is not listed never runs. */
const agentWorkByType: Partial<Record<Detection['builtInAgentType'], AgentWork<AgentWorkDeps>>> = {
  'threat-relevancy': refineRelevance,
  'threat-research': researchThreats,
};
