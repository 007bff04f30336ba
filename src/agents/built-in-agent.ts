import type { Budgets, Spent } from '../platform/models/budgets.ts';
import type { ModelRef } from '../platform/models/models.ts';
import type { Deps } from '../app/deps.ts';
import type { OrgId } from '../platform/lib/org-id.ts';

/** One run of a built-in agent of one organization. `model` undefined: it works without. `prompt`: the agent's active one. */
export type WorkTask = {
  orgId: OrgId;
  agentId: string;
  runId: string;
  model: ModelRef | undefined;
  prompt: string;
  /** The agent's own, before those of the alias. */
  budgets: Partial<Budgets>;
  signal: AbortSignal;
  /** What it used up, and the feed items that a model was asked about: noted as it goes, so that a run that breaks off keeps them. */
  spent: Spent;
  askedItems: string[];
};

/** What it did, as its run shows it. `triggered`: it brought something about. */
export type WorkDone = { outcome: Record<string, unknown>; triggered: boolean };

export type BuiltInWork = (deps: Deps, task: WorkTask) => Promise<WorkDone>;
