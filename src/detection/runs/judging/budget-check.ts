import { exhausted, type Budgets, type Spent } from '../../../platform/models/budgets.ts';
import { budgetExceeded } from '../../../platform/models/model-error.ts';
import { costOf, type ModelRef } from '../../../platform/models/models.ts';
import { inOrg } from '../../../platform/db/db.ts';
import type { Run, RunDeps } from '../run-types.ts';
import { lockAlias, readReserved, readUsage, reserve } from '../../../platform/models/model-usage.store.ts';

/** The budgets that hold for a run: the detection's own before those of its alias. */
export function budgetsOf({ definition }: Pick<Run, 'definition'>, { entry }: Pick<ModelRef, 'entry'>): Budgets {
  return { ...entry.budgets, ...(definition.budgets as Partial<Budgets>) };
}

type Spender = Pick<Run, 'orgId' | 'detectionId' | 'id' | 'spent'> & { budgets: Budgets; runMs: number };

/**
 * Lets a run take its next step, or throws budget_exceeded. What others have under way counts as if it were used up, so that
 * runs side by side exceed a budget by no more than one step. Whoever records the step releases what it reserved.
 */
export async function admitStep(
  { db, clock }: Pick<RunDeps, 'db' | 'clock'>,
  { orgId, detectionId, id: runId, spent, budgets, runMs }: Spender,
  model: ModelRef,
): Promise<void> {
  const { alias, entry } = model;
  const reserving = { orgId, runId, detectionId, alias };
  const over = await inOrg(db, orgId, async (tx) => {
    await lockAlias(tx, reserving);
    const used = await readUsage(tx, { orgId, detectionId }, alias, clock());
    const others = await readReserved(tx, reserving);
    const found = exhausted(budgets, {
      run: spent,
      runMs,
      detectionDay: sum(used.detectionDay, others.detectionDay),
      organizationMonth: sum(used.organizationMonth, others.organizationMonth),
    });
    if (!found) await reserve(tx, reserving, { ...mostOf(model), forMs: 2 * entry.timeoutSeconds * 1000 });
    return found;
  });
  if (over) throw budgetExceeded(over);
}

const sum = (one: Spent, other: Spent): Spent => ({
  tokens: one.tokens + other.tokens,
  costUsd: one.costUsd + other.costUsd,
});

/** What a step may use up: all that it may write, and as much read. */
function mostOf(model: ModelRef): Spent {
  const { maxOutputTokens } = model.entry;
  const tokens = { input: maxOutputTokens, output: maxOutputTokens };
  return { tokens: tokens.input + tokens.output, costUsd: costOf(model, tokens) };
}
