import type { ModelRef } from '../../../platform/models/models.ts';
import type { Step } from '../../../platform/models/model-step.ts';
import { inOrg } from '../../../platform/db/db.ts';
import { fence } from '../../scheduling/run-fence.ts';
import { admitStep, budgetsOf } from './budget-check.ts';
import type { Run, RunDeps } from '../run-types.ts';
import { insertStep } from '../steps.store.ts';
import { addUsage, release } from '../../../platform/models/model-usage.store.ts';

export type Purse = { admit: () => Promise<void>; record: (step: Step) => Promise<void> };

/**
 * What a run may spend on its model. `admit` throws budget_exceeded when a budget is used up; `record` keeps a step with what
 * it cost, in one fenced transaction, so that nothing is spent that is not counted.
 */
export function openPurse(deps: RunDeps, run: Run, model: ModelRef): Purse {
  let last = performance.now();
  const since = (): number => Math.round(performance.now() - last);
  return {
    admit: () => admitStep(deps, { ...run, budgets: budgetsOf(run, model), runMs: run.elapsedMs + since() }, model),
    record: async (step) => {
      const tokens = step.tokens.input + step.tokens.output;
      const usage = { alias: model.alias, tokens, costUsd: step.costUsd, ms: since() };
      await inOrg(deps.db, run.orgId, async (tx) => {
        await fence(tx, run.claim);
        await insertStep(tx, run.claim, step);
        await addUsage(tx, run, usage, deps.clock());
        if (step.kind !== 'tool') await release(tx, { orgId: run.orgId, runId: run.id });
      });
      last = performance.now();
      run.elapsedMs += usage.ms;
      run.spent.tokens += tokens;
      run.spent.costUsd += step.costUsd;
    },
  };
}
