import { z } from 'zod';

const tokens = z.int().min(1).max(1_000_000_000_000).optional();
const usd = z.number().min(0).max(1_000_000).optional();

/** Budgets of one detection or agent. Each takes precedence over the same budget of the model alias. Budgets of the organization are configured in the settings only. */
export const BudgetOverrides = z
  .strictObject({
    stepsPerEntity: z.int().min(1).max(100).optional(),
    tokensPerRun: tokens,
    secondsPerRun: z.int().min(1).max(86_400).optional(),
    usdPerRun: usd,
    tokensPerDetectionDay: tokens,
    usdPerDetectionDay: usd,
  })
  .describe('Take precedence over the budgets of the model alias. With {}, only those of the alias apply.')
  .meta({ id: 'BudgetOverrides' });
export type BudgetOverrides = z.infer<typeof BudgetOverrides>;
