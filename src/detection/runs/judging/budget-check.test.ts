import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { newOrgId, testDatabase } from '../../../../test/support/database.ts';
import { modelsAt } from '../../../../test/support/models/scripted-models.ts';
import { Budgets, exhausted, type Spendings } from '../../../platform/models/budgets.ts';
import { inOrg } from '../../../platform/db/db.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { admitStep, budgetsOf } from './budget-check.ts';
import { countUsage, release } from '../../../platform/models/model-usage.store.ts';

const { db } = await testDatabase(16);
const model = modelsAt({ m: 'http://127.0.0.1:1' }, { maxOutputTokens: 100 }).find('m')!;
let now = new Date('2026-03-31T12:00:00Z');
const deps = { db, clock: () => now };

const nothing = { tokens: 0, costUsd: 0 };
const spendings: Spendings = { run: nothing, runMs: 0, detectionDay: nothing, organizationMonth: nothing };

test.each([
  ['tokens of a run', { tokensPerRun: 100 }, (n: number) => ({ run: { tokens: n, costUsd: 0 } }), 100],
  ['US dollars of a run', { usdPerRun: 2 }, (n: number) => ({ run: { tokens: 0, costUsd: n } }), 2],
  ['seconds of a run', { secondsPerRun: 3 }, (n: number) => ({ runMs: n * 1000 }), 3],
  [
    'tokens of a detection and day',
    { tokensPerDetectionDay: 9 },
    (n: number) => ({ detectionDay: { tokens: n, costUsd: 0 } }),
    9,
  ],
  [
    'US dollars of a detection and day',
    { usdPerDetectionDay: 9 },
    (n: number) => ({ detectionDay: { tokens: 0, costUsd: n } }),
    9,
  ],
  [
    'tokens of the organization and month',
    { tokensPerOrganizationMonth: 9 },
    (n: number) => ({ organizationMonth: { tokens: n, costUsd: 0 } }),
    9,
  ],
  [
    'US dollars of the organization and month',
    { usdPerOrganizationMonth: 9 },
    (n: number) => ({ organizationMonth: { tokens: 0, costUsd: n } }),
    9,
  ],
])('the budget of %s ends where it is reached, not before', (what, limit, spend, at) => {
  const budgets = Budgets.parse(limit);
  expect(exhausted(budgets, { ...spendings, ...spend(at - 0.001) })).toBeUndefined();
  expect(exhausted(budgets, { ...spendings, ...spend(at) })).toBe(`The budget of ${at} ${what} is used up.`);
  expect(exhausted(budgets, { ...spendings, ...spend(at + 1) })).toContain(what);
});

type Spender = { orgId: OrgId; detectionId: string; id: string };
const newSpender = (orgId: OrgId, detectionId = uuidv7()): Spender => ({ orgId, detectionId, id: uuidv7() });
const ask = (spender: Spender, budgets: Record<string, number>) =>
  admitStep(deps, { ...spender, spent: nothing, runMs: 0, budgets: Budgets.parse(budgets) }, model).then(
    () => 'admitted',
    (error: { failure: { kind: string } }) => error.failure.kind,
  );
const spend = (spender: Spender, tokens: number) =>
  inOrg(db, spender.orgId, async (tx) => {
    await countUsage(tx, spender, { alias: 'm', tokens, costUsd: 0 }, now);
    await release(tx, { orgId: spender.orgId, runId: spender.id });
  });

test("of many runs racing for the last of a budget one takes it; it is the next one's again when less was used", async () => {
  const orgId = await newOrgId(db);
  const spenders = Array.from({ length: 8 }, () => newSpender(orgId));
  await spend(spenders[0]!, 900);
  const budgets = { tokensPerOrganizationMonth: 1000 };
  const answers = await Promise.all(spenders.map((one) => ask(one, budgets)));
  expect(answers.toSorted()).toEqual(['admitted', ...Array.from({ length: 7 }, () => 'budget_exceeded')]);
  const winner = spenders[answers.indexOf('admitted')]!;
  await spend(winner, 99);
  expect(
    await ask(
      spenders.find((one) => one !== winner)!,
      budgets,
    ),
  ).toBe('admitted');
});

test("the day is the detection's, the month its organization's, and another organization is not asked", async () => {
  const orgId = await newOrgId(db);
  const [one, other] = [newSpender(orgId), newSpender(orgId)];
  const foreign = newSpender(await newOrgId(db));
  await spend(one, 1000);
  const day = { tokensPerDetectionDay: 1000 };
  const month = { tokensPerOrganizationMonth: 1000 };
  expect(await Promise.all([ask(one, day), ask(other, day), ask(other, month), ask(foreign, month)])).toEqual([
    'budget_exceeded',
    'admitted',
    'budget_exceeded',
    'admitted',
  ]);
  now = new Date('2026-04-01T00:00:00Z');
  expect(await Promise.all([ask(one, day), ask(other, month)])).toEqual(['admitted', 'admitted']);
  now = new Date('2026-03-31T12:00:00Z');
});

test('what a lost worker had under way holds nothing back for ever', async () => {
  const orgId = await newOrgId(db);
  const [lost, next] = [newSpender(orgId), newSpender(orgId)];
  const budgets = { tokensPerOrganizationMonth: 150 };
  expect([await ask(lost, budgets), await ask(next, budgets)]).toEqual(['admitted', 'budget_exceeded']);
  await inOrg(db, orgId, (tx) =>
    sql`update model_reservations set until_at = clock_timestamp() - interval '1 s'`.execute(tx),
  );
  expect(await ask(next, budgets)).toBe('admitted');
});

test("a detection's own budgets go before those of its alias, one by one", () => {
  const definition = { budgets: { tokensPerRun: 7 } } as Parameters<typeof budgetsOf>[0]['definition'];
  expect(budgetsOf({ definition }, model)).toEqual({ ...model.entry.budgets, tokensPerRun: 7 });
});
