import type { OrgId } from '../platform/lib/org-id.ts';
import type { ConfiguredModel } from '../platform/models/models.ts';
import type { Budgets, Spend } from '../platform/models/spending/budgets.ts';

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
