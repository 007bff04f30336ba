import { exhausted, type Spent } from '../agent/budgets.ts';
import { budgetExceeded } from '../agent/model-error.ts';
import type { ModelRef } from '../agent/models.ts';
import { inOrg } from '../db/db.ts';
import type { Deps } from '../deps.ts';
import type { OrgId } from '../lib/org-id.ts';
import { countUsage, readUsage } from '../runs/usage-store.ts';

export type Purse = { spent: Spent; admit: () => Promise<void>; record: (spent: Spent) => Promise<void> };

/** What a built-in agent, or who asks in its name, may spend on its model: the alias's budgets, counted as those of a detection are. */
export function openPurse(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  { orgId, agentId }: { orgId: OrgId; agentId: string },
  { alias, entry }: ModelRef,
): Purse {
  const spent = { tokens: 0, costUsd: 0 };
  const begun = performance.now();
  const of = { orgId, detectionId: agentId };
  return {
    spent,
    admit: async () => {
      const stored = await inOrg(db, orgId, (tx) => readUsage(tx, of, alias, clock()));
      const over = exhausted(entry.budgets, { run: spent, runMs: performance.now() - begun, ...stored });
      if (over) throw budgetExceeded(over);
    },
    record: async ({ tokens, costUsd }) => {
      await inOrg(db, orgId, (tx) => countUsage(tx, of, { alias, tokens, costUsd }, clock()));
      spent.tokens += tokens;
      spent.costUsd += costUsd;
    },
  };
}
