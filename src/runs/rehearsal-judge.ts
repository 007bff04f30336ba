import { exhausted } from '../agent/budgets.ts';
import { budgetExceeded } from '../agent/model-error.ts';
import type { ModelRef } from '../agent/models.ts';
import { inOrg } from '../db/db.ts';
import type { Judge } from './judge.ts';
import { judgeBy } from './model-judge.ts';
import type { Purse } from './purse.ts';
import type { Run, RunDeps } from './run.ts';
import { countUsage, readUsage } from './usage-store.ts';

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
    admit: async () => {
      const stored = await inOrg(deps.db, run.orgId, (tx) => readUsage(tx, run, model.alias, deps.clock()));
      const over = exhausted(model.entry.budgets, { run: run.spent, runMs: performance.now() - begun, ...stored });
      if (over) throw budgetExceeded(over);
    },
    record: async ({ tokens: { input, output }, costUsd }) => {
      const tokens = input + output;
      if (tokens === 0) return;
      const usage = { alias: model.alias, tokens, costUsd };
      await inOrg(deps.db, run.orgId, (tx) => countUsage(tx, run, usage, deps.clock()));
      run.spent.tokens += tokens;
      run.spent.costUsd += costUsd;
    },
  };
}
