import type { Budgets, Spend } from '../../../../platform/models/budgets.ts';

/** Estimates from the verdicts of this attempt what the next ones will cost. */
export type BudgetForecast = {
  /** Counts verdicts that the model gave. */
  addVerdicts: (n: number) => void;
  /** Returns whether the budget of the run is too small for this many more verdicts. False before the first verdict. */
  isTight: (n: number) => boolean;
};

/** `spent` is what the run has spent so far and grows with each step. */
export function createBudgetForecast(spent: Spend, { tokensPerRun, usdPerRun }: Budgets): BudgetForecast {
  const start = { ...spent };
  let verdicts = 0;
  return {
    addVerdicts: (n) => {
      verdicts += n;
    },
    isTight: (n) => {
      if (verdicts === 0) return false;
      const tokens = ((spent.tokens - start.tokens) / verdicts) * n;
      const costUsd = ((spent.costUsd - start.costUsd) / verdicts) * n;
      return tokens > tokensPerRun - spent.tokens || (costUsd > 0 && costUsd > usdPerRun - spent.costUsd);
    },
  };
}
