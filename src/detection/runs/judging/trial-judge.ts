import { createSpendMeter } from '../../../platform/models/spending/spend-meter.ts';
import type { ActiveRun } from '../execution/active-run.ts';
import type { Judge } from './judge.ts';
import { createJudgeWithMeter, type JudgeDeps } from './model-judge.ts';
import { runBudgets } from './run-spend.ts';

/**
 * Creates the judge of a trial run: the same model and budgets as a real run, but its steps are not stored and tools that send
 * anything are simulated. Sets the run's model and mode. The run also counts its spend.
 */
export function createTrialJudge(deps: JudgeDeps, run: ActiveRun): Judge {
  run.definition = { ...run.definition, mode: 'sandbox' };
  const judge = createJudgeWithMeter(deps, run, (model) =>
    createSpendMeter(deps, { spender: run, budgets: runBudgets(run, model), model }),
  );
  run.model = judge.model;
  return judge;
}
