import type { Db } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { timeOfId } from '../../platform/lib/ids.ts';
import type { ConfiguredModel } from '../../platform/models/models.ts';
import { mergeBudgets, type Budgets, type Spend } from '../../platform/models/spending/budgets.ts';
import { createSpendMeter, type SpendMeter } from '../../platform/models/spending/spend-meter.ts';
import { insertStep } from '../../detection/runs/run-model/progress.store.ts';
import type { FeedItem } from '../../feed/model/item.schema.ts';

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
    budgets: mergeBudgets(model, budgets),
    model,
    storeStep: async (tx, step) => {
      if (storesSteps) await insertStep(tx, { orgId, runId, attempt: 1, dueAt: timeOfId(runId) }, step);
    },
  }).startConversation();
}

/** TLP 2.0 labels whose recipients may not share a text outside their own organization. */
const internalOnly: readonly string[] = ['AMBER+STRICT', 'RED'];

/** Returns whether an item's text may be sent to a model: items marked AMBER+STRICT or RED go to local models only. */
export const canModelRead = ({ entry }: ConfiguredModel, item: FeedItem): boolean =>
  entry.local || !internalOnly.includes(item.source.tlp);
