import type { Budgets, Spent } from '../agent/budgets.ts';
import type { ModelRef } from '../agent/models.ts';
import { inOrg } from '../db/db.ts';
import type { Deps } from '../deps.ts';
import type { OrgId } from '../lib/org-id.ts';
import { admitStep } from '../runs/allowance.ts';
import { countUsage, release } from '../runs/usage-store.ts';

export type Purse = { spent: Spent; admit: () => Promise<void>; record: (spent: Spent) => Promise<void> };

/** Who spends: a built-in agent in one of its runs, or somebody in its name. `budgets` go before those of the alias. */
export type Spender = { orgId: OrgId; agentId: string; runId: string; budgets: Partial<Budgets> };

/** What a built-in agent may spend on its model, counted and bounded as what a detection spends. */
export function openPurse(
  deps: Pick<Deps, 'db' | 'clock'>,
  { orgId, agentId, runId, budgets }: Spender,
  model: ModelRef,
): Purse {
  const spent = { tokens: 0, costUsd: 0 };
  const begun = performance.now();
  const of = { orgId, detectionId: agentId };
  const bounds = { ...model.entry.budgets, ...budgets };
  return {
    spent,
    admit: () => admitStep(deps, { ...of, id: runId, spent, budgets: bounds, runMs: performance.now() - begun }, model),
    record: async ({ tokens, costUsd }) => {
      await inOrg(deps.db, orgId, async (tx) => {
        if (tokens > 0) await countUsage(tx, of, { alias: model.alias, tokens, costUsd }, deps.clock());
        await release(tx, { orgId, runId });
      });
      spent.tokens += tokens;
      spent.costUsd += costUsd;
    },
  };
}
