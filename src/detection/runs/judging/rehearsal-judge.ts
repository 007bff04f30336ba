import type { ModelRef } from '../../../platform/models/models.ts';
import { inOrg } from '../../../platform/db/db.ts';
import { admitStep, budgetsOf } from './budget-check.ts';
import type { Judge } from './judge.ts';
import { judgeBy } from './model-judge.ts';
import type { Purse } from './run-spend.ts';
import type { Run, RunDeps } from '../run-types.ts';
import { countUsage, release } from '../../../platform/models/model-usage.store.ts';

/**
 * The judge of a run that is only tried out: the same model with the same budgets, but no steps are kept and what would send
 * anything is simulated. Names the model on the run, which also counts what was spent.
 */
export function rehearsalJudge(deps: RunDeps, run: Run): Judge {
  run.definition = { ...run.definition, mode: 'sandbox' };
  const judge = judgeBy(deps, run, (model) => countingPurse(deps, run, model));
  run.model = judge.model;
  return judge;
}

/** A purse that keeps no steps: budgets hold for what is tried out as for a run. */
function countingPurse(deps: RunDeps, run: Run, model: ModelRef): Purse {
  const begun = performance.now();
  return {
    admit: () => admitStep(deps, { ...run, budgets: budgetsOf(run, model), runMs: performance.now() - begun }, model),
    record: async ({ kind, tokens: { input, output }, costUsd }) => {
      if (kind === 'tool') return;
      const tokens = input + output;
      const usage = { alias: model.alias, tokens, costUsd };
      await inOrg(deps.db, run.orgId, async (tx) => {
        if (tokens > 0) await countUsage(tx, run, usage, deps.clock());
        await release(tx, { orgId: run.orgId, runId: run.id });
      });
      run.spent.tokens += tokens;
      run.spent.costUsd += costUsd;
    },
  };
}
