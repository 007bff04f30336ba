import type { OrgId } from '../platform/lib/org-id.ts';
import type { ConfiguredModel } from '../platform/models/models.ts';
import type { Budgets, Spend } from '../platform/models/budgets.ts';
import type { Db } from '../platform/db/db.ts';
import type { Clock } from '../platform/lib/time/clock.ts';
import { timeOfId } from '../platform/lib/ids.ts';
import { createSpendMeter, type SpendMeter } from '../platform/models/spend-meter.ts';
import { insertStep } from '../detection/runs/run-model/run-results.store.ts';

/** One run of a built-in agent of one organization. */
export type AgentTask = {
  orgId: OrgId;
  agentId: string;
  runId: string;
  /** Undefined if the agent has no configured model. It then works without one. */
  model: ConfiguredModel | undefined;
  /** Active prompt of the agent. */
  prompt: string;
  /** Budgets of the agent, which override those of the model alias. */
  budgets: Partial<Budgets>;
  signal: AbortSignal;
  /** Spend so far, and the feed items in prompts so far. Updated during the run, so that a failed run keeps them. */
  spent: Spend;
  promptedItemIds: string[];
};

/** `outcome` is shown with the run. `triggered` is true if the run changed anything. */
export type AgentTaskResult = { outcome: Record<string, unknown>; triggered: boolean };

export type AgentWork<AgentDeps> = (deps: AgentDeps, task: AgentTask) => Promise<AgentTaskResult>;

/** A run of a built-in agent, or a request made in its name. `budgets` take precedence over those of the model alias. */
type AgentSpender = {
  orgId: OrgId;
  agentId: string;
  runId: string;
  budgets: Partial<Budgets>;
  /** Grows with each step. */
  spent: Spend;
  /** False for a request that has no run to show steps in. */
  storesSteps: boolean;
};

/** Meters what a built-in agent spends on its model, under the same rules as a detection run. */
export function createAgentSpendMeter(
  deps: { db: Db; clock: Clock },
  { orgId, agentId, runId, budgets, spent, storesSteps }: AgentSpender,
  model: ConfiguredModel,
): SpendMeter {
  return createSpendMeter(deps, {
    spender: { orgId, detectionId: agentId, id: runId, spent, elapsedMs: 0 },
    overrides: budgets,
    model,
    storeStep: async (tx, step) => {
      if (storesSteps) await insertStep(tx, { orgId, runId, attempt: 1, dueAt: timeOfId(runId) }, step);
    },
  }).startConversation();
}
