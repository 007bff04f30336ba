import { createSpendMeter } from '../../../platform/models/spending/spend-meter.ts';
import type { Judge } from './judge.ts';
import { createJudgeWithMeter } from './model-judge.ts';
import { runBudgets } from './run-spend.ts';
import type { ActiveRun, RunDeps } from '../execution/active-run.ts';

/**
 * The judge of a run that is only tried out: the same model with the same budgets, but no steps are kept and what would send
 * anything is simulated. Names the model on the run, which also counts what was spent.
 */
export function createTrialJudge(deps: RunDeps, run: ActiveRun): Judge {
  run.definition = { ...run.definition, mode: 'sandbox' };
  const judge = createJudgeWithMeter(deps, run, (model) =>
    createSpendMeter(deps, { spender: run, budgets: runBudgets(run, model), model }),
  );
  run.model = judge.model;
  return judge;
}
