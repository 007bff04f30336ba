import { z } from 'zod';
import type { OrgId } from '../lib/org-id.ts';

const tokens = (fallback: number) => z.int().min(1).default(fallback);
const usd = (fallback: number) => z.number().min(0).default(fallback);

/** Limits on the use of a model alias. Every limit has a default. Daily and monthly use is counted per organization and alias. */
export const Budgets = z
  .strictObject({
    stepsPerEntity: z.int().min(1).max(100).default(20),
    tokensPerRun: tokens(500_000),
    secondsPerRun: z.int().min(1).max(86_400).default(900),
    usdPerRun: usd(5),
    tokensPerDetectionDay: tokens(5_000_000),
    usdPerDetectionDay: usd(20),
    tokensPerOrganizationMonth: tokens(200_000_000),
    usdPerOrganizationMonth: usd(500),
  })
  .prefault({});
export type Budgets = z.infer<typeof Budgets>;

/** What was spent. `costUsd` is null once a model without a price had a part in it. */
export type Spend = { tokens: number; costUsd: number | null };

/** Adds costs, which are unknown if one of them is. */
export const addCosts = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? null : a + b;

/** A run that spends. `detectionId` is a detection or built-in agent, `id` the run. `spent` and `elapsedMs` grow with each step. */
export type Spender = { orgId: OrgId; detectionId: string; id: string; spent: Spend; elapsedMs: number };

/** The operator's limits on what the organization spends on all models together, in US dollars. Null: no limit. */
export type SpendQuotas = { usdPerDay: number | null; usdPerMonth: number | null };
export const noSpendQuotas: SpendQuotas = { usdPerDay: null, usdPerMonth: null };

/** `allModels` is the cost of all models of the organization in US dollars. */
export type SpendTotals = {
  run: Spend;
  runMs: number;
  detectionDay: Spend;
  organizationMonth: Spend;
  allModels: { day: number; month: number };
};

/** Returns the model's budgets with those of a detection or agent taking precedence. */
export function mergeBudgets(model: { entry: { budgets: Budgets } }, overrides: Partial<Budgets>): Budgets {
  return { ...model.entry.budgets, ...overrides };
}

/** Returns a sentence about the first budget or quota that is used up, or undefined. */
export function findExhaustedBudget(
  budgets: Budgets,
  totals: SpendTotals,
  quotas: SpendQuotas = noSpendQuotas,
): string | undefined {
  const { run, detectionDay: day, organizationMonth: month } = totals;
  const limits: [used: number, limit: number, label: string][] = [
    [run.tokens, budgets.tokensPerRun, 'tokens per run'],
    [run.costUsd ?? 0, budgets.usdPerRun, 'US dollars per run'],
    [totals.runMs / 1000, budgets.secondsPerRun, 'seconds per run'],
    [day.tokens, budgets.tokensPerDetectionDay, 'tokens per detection and day'],
    [day.costUsd ?? 0, budgets.usdPerDetectionDay, 'US dollars per detection and day'],
    [month.tokens, budgets.tokensPerOrganizationMonth, 'tokens per organization and month'],
    [month.costUsd ?? 0, budgets.usdPerOrganizationMonth, 'US dollars per organization and month'],
    [totals.allModels.day, quotas.usdPerDay ?? Infinity, 'US dollars for all models per day'],
    [totals.allModels.month, quotas.usdPerMonth ?? Infinity, 'US dollars for all models per month'],
  ];
  // A limit of 0 dollars still allows calls that cost nothing.
  const exhausted = limits.find(([used, limit, label]) =>
    limit === 0 && label.startsWith('US') ? used > 0 : used >= limit,
  );
  return exhausted && `The budget of ${exhausted[1]} ${exhausted[2]} is used up.`;
}
