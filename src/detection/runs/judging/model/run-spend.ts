import type { Db } from '../../../../platform/db/db.ts';
import type { Clock } from '../../../../platform/lib/time/clock.ts';
import type { ConfiguredModel } from '../../../../platform/models/models.ts';
import { mergeBudgets, type Budgets } from '../../../../platform/models/budgets.ts';
import { createSpendMeter, type RunSpendMeter } from '../../../../platform/models/spend-meter.ts';
import { fenceRun } from '../../../scheduling/run-claim.ts';
import type { ModelStep } from '../../../../platform/models/model-request.ts';
import type { ActiveRun } from '../../run-model/active-run.ts';
import { addWarning } from '../../run-model/run-progress.ts';
import { writeStepUsage, insertStep } from '../../run-model/run-results.store.ts';

/** Meters what a run spends on its model. Each step is stored with its cost in one fenced transaction. */
export function createRunSpendMeter(
  deps: { db: Db; clock: Clock },
  run: ActiveRun,
  model: ConfiguredModel,
): RunSpendMeter {
  return createSpendMeter(deps, {
    spender: run,
    overrides: budgetsOf(run),
    model,
    storeStep: async (tx, step, usage) => {
      await fenceRun(tx, run.claim);
      await insertStep(tx, run.claim, step);
      if (step.alias !== undefined && step.alias !== model.alias && step.error === undefined)
        warnAboutAnswer(run, model, step);
      await writeStepUsage(tx, run.claim, usage);
    },
  });
}

/** Returns the budgets of a run's detection, which override those of every alias that answers. */
export const budgetsOf = ({ definition }: Pick<ActiveRun, 'definition'>) => definition.budgets as Partial<Budgets>;

/** Returns the budgets of a run: those of its detection, then those of the model alias. */
export const runBudgets = (run: Pick<ActiveRun, 'definition'>, model: ConfiguredModel): Budgets =>
  mergeBudgets(model, budgetsOf(run));

/** Says in the run that another alias answered than the detection's. */
function warnAboutAnswer({ progress }: ActiveRun, { alias }: ConfiguredModel, step: ModelStep): void {
  const detail = `The model alias "${alias}" failed, and "${step.alias}" (${step.model}) answered instead. The steps state which one answered.`;
  addWarning(progress, 'fallback_answered', detail);
}
