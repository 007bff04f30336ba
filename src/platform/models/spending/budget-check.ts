import { inOrg, type Db } from '../../db/db.ts';
import type { Clock } from '../../lib/clock.ts';
import { budgetExceededError } from '../model-error.ts';
import { callCostUsd, type ConfiguredModel } from '../models.ts';
import { findExhaustedBudget, type Budgets, type Spend, type Spender } from './budgets.ts';
import { lockAlias, readReserved, readUsage, releaseReservation, storeReservation } from './model-usage.store.ts';

type StepRequest = {
  spender: Omit<Spender, 'elapsedMs'>;
  /** The conversation of the run that makes the step. */
  conversation: string;
  budgets: Budgets;
  runMs: number;
  /** The first step of an attempt: reservations that an earlier attempt left are deleted. */
  isFirst?: boolean;
};

/**
 * Reserves the most that the next step of a conversation can use, or throws `budget_exceeded`. Reservations of other runs and of
 * other conversations of the same run count as used, so concurrent calls exceed a budget by one step at most. Recording the step
 * releases its reservation.
 */
export async function reserveStep(
  { db, clock }: { db: Db; clock: Clock },
  { spender, conversation, budgets, runMs, isFirst }: StepRequest,
  model: ConfiguredModel,
): Promise<void> {
  const { orgId, detectionId, id: runId, spent } = spender;
  const { alias, entry } = model;
  const reservation = { orgId, runId, conversation, detectionId, alias };
  const problem = await inOrg(db, orgId, async (tx) => {
    await lockAlias(tx, reservation);
    if (isFirst) await releaseReservation(tx, { orgId, runId });
    const used = await readUsage(tx, { orgId, detectionId }, alias, clock());
    const reserved = await readReserved(tx, reservation);
    const exhausted = findExhaustedBudget(budgets, {
      run: addSpend(spent, reserved.run),
      runMs,
      detectionDay: addSpend(used.detectionDay, reserved.detectionDay),
      organizationMonth: addSpend(used.organizationMonth, reserved.organizationMonth),
    });
    if (!exhausted)
      await storeReservation(tx, reservation, { ...maxStepSpend(model), forMs: 2 * entry.timeoutSeconds * 1000 });
    return exhausted;
  });
  if (problem) throw budgetExceededError(problem);
}

const addSpend = (a: Spend, b: Spend): Spend => ({ tokens: a.tokens + b.tokens, costUsd: a.costUsd + b.costUsd });

/** Assumes that a step writes the most tokens allowed and reads as many. */
function maxStepSpend(model: ConfiguredModel): Spend {
  const { maxOutputTokens } = model.entry;
  const costUsd = callCostUsd(model, { input: maxOutputTokens, output: maxOutputTokens });
  return { tokens: 2 * maxOutputTokens, costUsd };
}
