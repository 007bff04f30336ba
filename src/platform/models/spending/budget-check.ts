import { inOrg, type Db } from '../../db/db.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { lockQuota } from '../../orgs/limits/limits.store.ts';
import { budgetExceededError } from '../model-error.ts';
import { callCostUsd, type ConfiguredModel } from '../models.ts';
import { findExhaustedBudget, type Budgets, type Spend, type Spender } from './budgets.ts';
import {
  lockAlias,
  readAllModels,
  readReserved,
  readSpendQuotas,
  readUsage,
  releaseReservation,
  storeReservation,
} from './model-usage.store.ts';

type StepRequest = {
  spender: Omit<Spender, 'elapsedMs'>;
  /** The conversation of the run that makes the step. */
  conversation: string;
  budgets: Budgets;
  runMs: number;
  /** The first step of an attempt: reservations that an earlier attempt left are deleted. */
  isFirst?: boolean;
};

/** `blocked`: only the calls in progress of the same run leave no room. The step can be tried again when one of them has ended. */
export type StepReservation = { outcome: 'reserved' } | { outcome: 'blocked'; problem: string };

/**
 * Reserves the most that the next step of a conversation can use, or throws `budget_exceeded`, also if the organization's quota is used up. Reservations of other runs and of
 * other conversations of the same run count as used, so concurrent calls exceed a budget by one step at most. Recording the step
 * releases its reservation.
 */
export async function reserveStep(
  { db, clock }: { db: Db; clock: Clock },
  { spender, conversation, budgets, runMs, isFirst }: StepRequest,
  model: ConfiguredModel,
): Promise<StepReservation> {
  const { orgId, detectionId, id: runId, spent } = spender;
  const { alias, entry } = model;
  const reservation = { orgId, runId, conversation, detectionId, alias };
  const { exhausted, blocked } = await inOrg(db, orgId, async (tx) => {
    const quotas = await readSpendQuotas(tx, orgId);
    const hasQuota = quotas.usdPerDay !== null || quotas.usdPerMonth !== null;
    // All models share the quota, so that their checks wait for each other.
    if (hasQuota) await lockQuota(tx, orgId, 'modelUsdPerMonth');
    await lockAlias(tx, reservation);
    if (isFirst) await releaseReservation(tx, { orgId, runId });
    const used = await readUsage(tx, { orgId, detectionId }, alias, clock());
    const { siblings, detectionDay, organizationMonth } = await readReserved(tx, reservation);
    const allModels = hasQuota ? await readAllModels(tx, reservation, clock()) : noCost;
    const others = {
      run: spent,
      runMs,
      detectionDay: addSpend(used.detectionDay, detectionDay),
      organizationMonth: addSpend(used.organizationMonth, organizationMonth),
      allModels: { day: allModels.day, month: allModels.month },
    };
    const all = {
      run: addSpend(spent, siblings),
      runMs,
      detectionDay: addSpend(others.detectionDay, siblings),
      organizationMonth: addSpend(others.organizationMonth, siblings),
      allModels: { day: allModels.day + allModels.siblings, month: allModels.month + allModels.siblings },
    };
    const problems = {
      exhausted: findExhaustedBudget(budgets, others, quotas),
      blocked: findExhaustedBudget(budgets, all, quotas),
    };
    if (!problems.blocked)
      await storeReservation(tx, reservation, { ...maxStepSpend(model), forMs: 2 * entry.timeoutSeconds * 1000 });
    return problems;
  });
  if (exhausted) throw budgetExceededError(exhausted);
  return blocked ? { outcome: 'blocked', problem: blocked } : { outcome: 'reserved' };
}

const noCost = { day: 0, month: 0, siblings: 0 };

const addSpend = (a: Spend, b: Spend): Spend => ({ tokens: a.tokens + b.tokens, costUsd: a.costUsd + b.costUsd });

/** Assumes that a step writes the most tokens allowed and reads as many. */
function maxStepSpend(model: ConfiguredModel): Spend {
  const { maxOutputTokens } = model.entry;
  const costUsd = callCostUsd(model, { input: maxOutputTokens, output: maxOutputTokens });
  return { tokens: 2 * maxOutputTokens, costUsd };
}
