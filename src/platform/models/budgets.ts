import { z } from 'zod';

const tokens = (fallback: number) => z.int().min(1).default(fallback);
const usd = (fallback: number) => z.number().min(0).default(fallback);

/** What a model may use up; nothing of it is without end. The alias's own share is counted, of each organization by itself. */
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

export type Spent = { tokens: number; costUsd: number };
export type Spendings = { run: Spent; runMs: number; detectionDay: Spent; organizationMonth: Spent };

/** The first budget that is used up, in a sentence; undefined while there is something left of each. */
export function exhausted(budgets: Budgets, spent: Spendings): string | undefined {
  const { run, detectionDay: day, organizationMonth: month } = spent;
  const limits: [number, number, string][] = [
    [run.tokens, budgets.tokensPerRun, 'tokens of a run'],
    [run.costUsd, budgets.usdPerRun, 'US dollars of a run'],
    [spent.runMs / 1000, budgets.secondsPerRun, 'seconds of a run'],
    [day.tokens, budgets.tokensPerDetectionDay, 'tokens of a detection and day'],
    [day.costUsd, budgets.usdPerDetectionDay, 'US dollars of a detection and day'],
    [month.tokens, budgets.tokensPerOrganizationMonth, 'tokens of the organization and month'],
    [month.costUsd, budgets.usdPerOrganizationMonth, 'US dollars of the organization and month'],
  ];
  // A limit of 0 dollars forbids what costs something, not what is free.
  const over = limits.find(([used, limit, what]) => (limit === 0 && what.startsWith('US') ? used > 0 : used >= limit));
  return over && `The budget of ${over[1]} ${over[2]} is used up.`;
}
