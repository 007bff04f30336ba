import type { Budgets, Spent } from '../../platform/models/budgets.ts';
import type { Step } from '../../platform/models/model-step.ts';
import type { ModelRef } from '../../platform/models/models.ts';
import { inOrg } from '../../platform/db/db.ts';
import type { Deps } from '../../app/deps.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { timeOfId } from '../../platform/lib/ids.ts';
import { admitStep } from '../../detection/runs/judging/budget-check.ts';
import { insertStep } from '../../detection/runs/steps.store.ts';
import { countUsage, release } from '../../platform/models/model-usage.store.ts';

export type Purse = { admit: () => Promise<void>; record: (step: Step) => Promise<void> };

/** Who spends: a built-in agent in one of its runs, whose steps are kept, or somebody in its name. `budgets` go before those of the alias. */
export type Spender = {
  orgId: OrgId;
  agentId: string;
  runId: string;
  budgets: Partial<Budgets>;
  /** Grows with each step. */
  spent: Spent;
  keepsSteps: boolean;
};

/** What a built-in agent may spend on its model, counted and bounded as what a detection spends. Steps are kept as those of runs are. */
export function openPurse(
  deps: Pick<Deps, 'db' | 'clock'>,
  { orgId, agentId, runId, budgets, spent, keepsSteps }: Spender,
  model: ModelRef,
): Purse {
  const begun = performance.now();
  const of = { orgId, detectionId: agentId };
  const bounds = { ...model.entry.budgets, ...budgets };
  return {
    admit: () => admitStep(deps, { ...of, id: runId, spent, budgets: bounds, runMs: performance.now() - begun }, model),
    record: async (step) => {
      const { costUsd } = step;
      const tokens = step.tokens.input + step.tokens.output;
      await inOrg(deps.db, orgId, async (tx) => {
        if (keepsSteps) await insertStep(tx, { orgId, runId, attempt: 1, dueAt: timeOfId(runId) }, step);
        if (tokens > 0) await countUsage(tx, of, { alias: model.alias, tokens, costUsd }, deps.clock());
        await release(tx, { orgId, runId });
      });
      spent.tokens += tokens;
      spent.costUsd += costUsd;
    },
  };
}
