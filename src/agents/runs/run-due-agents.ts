import { ModelError } from '../../platform/models/model-error.ts';
import { inOrg } from '../../platform/db/db.ts';
import type { Deps } from '../../app/deps.ts';
import type { BuiltInWork } from '../built-in-agent.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { loop } from '../../platform/lib/loop.ts';
import { nextSlot } from '../../platform/lib/cron/cron.ts';
import { cronOf } from '../../platform/lib/cron/cron-intervals.ts';
import { builtInWork } from '../registry.ts';
import { beginRun, endRun, listScheduledAcrossOrgs, type RunEnd, type Scheduled } from './agent-runs.store.ts';

const idleMs = 60_000;
// Less than the distance of two slots: a run has ended, or been given up, before the next is due.
const runMsMax = 30 * 60_000;

/** Runs due built-in agents until the signal ends it. */
export function agentsLoop(deps: Deps, signal: AbortSignal): Promise<void> {
  return loop({ name: 'agents', idleMs, signal, log: deps.log }, async () => {
    await runDueAgents(deps, signal);
    return false;
  });
}

/** Runs the built-in agents whose slot has come, each in one process; a new schedule runs at once. Answers how many ran. */
export async function runDueAgents(deps: Deps, signal: AbortSignal, works = builtInWork): Promise<number> {
  const now = deps.clock();
  let ran = 0;
  for (const agent of await listScheduledAcrossOrgs(deps.db, Object.keys(works))) {
    if (signal.aborted) break;
    const { cron, lastRunAt } = agent;
    const work = works[agent.type];
    if (cron === null || !work) continue;
    const slotAt = lastRunAt === null ? null : nextSlot(cronOf(cron), lastRunAt);
    if (lastRunAt !== null && (slotAt === null || slotAt > now)) continue;
    if (await runAgent(deps, agent, { work, slotAt, signal })) ran += 1;
  }
  return ran;
}

type Due = { work: BuiltInWork; slotAt: Date | null; signal: AbortSignal };

async function runAgent(deps: Deps, agent: Scheduled, { work, slotAt, signal }: Due): Promise<boolean> {
  const { orgId, agentId } = agent;
  const now = deps.clock();
  const model = deps.models?.find(agent.modelAlias);
  const id = uuidv7(now);
  const begun = { id, slotAt, model: model?.name ?? null, now };
  if (!(await inOrg(deps.db, orgId, (tx) => beginRun(tx, agent, begun)))) return false;
  const within = AbortSignal.any([signal, AbortSignal.timeout(runMsMax)]);
  const { prompt, budgets } = agent;
  const noted = { spent: { tokens: 0, costUsd: 0 }, askedItems: [] };
  const task = { orgId, agentId, runId: id, model, prompt, budgets, signal: within, ...noted };
  const outcome = await outcomeOf(deps, () => work(deps, task));
  const end = { ...outcome, ...noted.spent, itemIds: noted.askedItems };
  await inOrg(deps.db, orgId, (tx) => endRun(tx, { orgId, agentId, id }, end, deps.clock()));
  return true;
}

/** What goes wrong for one organization is kept on its run, and is not the others' trouble; its next slot tries again. */
async function outcomeOf(
  deps: Deps,
  run: () => ReturnType<BuiltInWork>,
): Promise<Pick<RunEnd, 'status' | 'failure' | 'outcome' | 'triggered'>> {
  try {
    return { status: 'completed', failure: null, ...(await run()) };
  } catch (error) {
    deps.log.error({ err: error }, 'a built-in agent failed');
    const failure =
      error instanceof ModelError
        ? error.failure
        : { kind: 'internal', blame: 'us', retryable: true, message: 'It broke off; the log of the service says why.' };
    return { status: 'failed', failure, outcome: {}, triggered: false };
  }
}
