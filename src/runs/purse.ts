import { budgetExceeded } from '../agent/model-error.ts';
import type { ModelRef } from '../agent/models.ts';
import { exhausted } from '../agent/budgets.ts';
import type { Step } from '../agent/step.ts';
import { inOrg } from '../db/db.ts';
import { fence } from '../schedule/fence.ts';
import type { Run, RunDeps } from './run.ts';
import { insertStep } from './step-store.ts';
import { addUsage, readUsage } from './usage-store.ts';

export type Purse = { admit: () => Promise<void>; record: (step: Step) => Promise<void> };

/**
 * What a run may spend on its model. `admit` throws budget_exceeded when a budget is used up; `record` keeps a step with what
 * it cost, in one fenced transaction, so that nothing is spent that is not counted. Runs side by side may each go one step over.
 */
export function openPurse(deps: RunDeps, run: Run, model: ModelRef): Purse {
  const begun = performance.now();
  return {
    admit: async () => {
      const stored = await inOrg(deps.db, run.orgId, (tx) => readUsage(tx, run, model.alias, deps.clock()));
      const runMs = performance.now() - begun;
      const over = exhausted(model.entry.budgets, { run: run.spent, runMs, ...stored });
      if (over) throw budgetExceeded(over);
    },
    record: async (step) => {
      const tokens = step.tokens.input + step.tokens.output;
      await inOrg(deps.db, run.orgId, async (tx) => {
        await fence(tx, run.claim);
        await insertStep(tx, run.claim, step);
        if (tokens > 0) await addUsage(tx, run, { alias: model.alias, tokens, costUsd: step.costUsd }, deps.clock());
      });
      run.spent.tokens += tokens;
      run.spent.costUsd += step.costUsd;
    },
  };
}
