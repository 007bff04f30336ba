import { z } from 'zod';

const tokens = z.int().min(1).max(1_000_000_000_000).optional();
const usd = z.number().min(0).max(1_000_000).optional();

/** Budgets of one detection or agent, each before that of its alias. The organization's own stand in the settings alone. */
export const BudgetOverrides = z
  .strictObject({
    stepsPerEntity: z.int().min(1).max(100).optional(),
    tokensPerRun: tokens,
    secondsPerRun: z.int().min(1).max(86_400).optional(),
    usdPerRun: usd,
    tokensPerDetectionDay: tokens,
    usdPerDetectionDay: usd,
  })
  .describe("Before the budgets of the alias; {}: the alias's alone.")
  .meta({ id: 'BudgetOverrides' });
export type BudgetOverrides = z.infer<typeof BudgetOverrides>;
