import type { Db } from '../../../../platform/db/db.ts';
import type { Clock } from '../../../../platform/lib/time/clock.ts';
import type { ConfiguredModel } from '../../../../platform/models/models.ts';
import { mergeBudgets, type Budgets } from '../../../../platform/models/budgets.ts';
import { createSpendMeter, type RunSpendMeter } from '../../../../platform/models/spend-meter.ts';
import { fenceRun } from '../../../scheduling/run-claim.ts';
import type { ActiveRun } from '../../run-model/active-run.ts';
import { writeStepUsage, insertStep } from '../../run-model/progress.store.ts';

/** Meters what a run spends on its model. Each step is stored with its cost in one fenced transaction. */
export function createRunSpendMeter(
  deps: { db: Db; clock: Clock },
  run: ActiveRun,
  model: ConfiguredModel,
): RunSpendMeter {
  return createSpendMeter(deps, {
    spender: run,
    budgets: runBudgets(run, model),
    model,
    storeStep: async (tx, step, usage) => {
      await fenceRun(tx, run.claim);
      await insertStep(tx, run.claim, step);
      await writeStepUsage(tx, run, usage);
    },
  });
}

/** Returns the budgets of a run: those of its detection, then those of the model alias. */
export function runBudgets({ definition }: Pick<ActiveRun, 'definition'>, model: ConfiguredModel): Budgets {
  return mergeBudgets(model, definition.budgets as Partial<Budgets>);
}
