import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { newOrgId, testDatabase } from '../../../test/support/database.ts';
import { createScriptedModels } from '../../../test/support/models/scripted-models.ts';
import { Budgets, findExhaustedBudget, mergeBudgets, type SpendTotals } from './budgets.ts';
import { acrossOrgs, inOrg } from '../db/db.ts';
import { quotaNames, type Quotas } from '../orgs/limits/limits.schema.ts';
import { storeQuotasAcrossOrgs } from '../orgs/limits/limits.store.ts';
import { uuidv7 } from '../lib/ids.ts';
import type { OrgId } from '../lib/org-id.ts';
import { reserveStep, createSpendMeter } from './spend-meter.ts';
import { countUsage, releaseReservation } from './model-usage.store.ts';

const { db } = await testDatabase(16);
const model = createScriptedModels({ m: 'http://127.0.0.1:1' }, { maxOutputTokens: 100 }).find('m')!;
let now = new Date('2026-03-31T12:00:00Z');
const deps = { db, clock: () => now };

const noQuotas = Object.fromEntries(quotaNames.map((name) => [name, null])) as Quotas;
const tokens = (n: number) => ({ tokens: n, costUsd: 0 });
const usd = (n: number) => ({ tokens: 0, costUsd: n });
const zero = { tokens: 0, costUsd: 0 };
const noSpend: SpendTotals = {
  run: zero,
  runMs: 0,
  detectionDay: zero,
  organizationMonth: zero,
  allModels: { day: 0, month: 0 },
};

test.each([
  ['tokens per run', { tokensPerRun: 100 }, (n: number) => ({ run: tokens(n) }), 100],
  ['US dollars per run', { usdPerRun: 2 }, (n: number) => ({ run: usd(n) }), 2],
  ['seconds per run', { secondsPerRun: 3 }, (n: number) => ({ runMs: n * 1000 }), 3],
  ['tokens per detection and day', { tokensPerDetectionDay: 9 }, (n: number) => ({ detectionDay: tokens(n) }), 9],
  ['US dollars per detection and day', { usdPerDetectionDay: 9 }, (n: number) => ({ detectionDay: usd(n) }), 9],
  [
    'tokens per organization and month',
    { tokensPerOrganizationMonth: 9 },
    (n: number) => ({ organizationMonth: tokens(n) }),
    9,
  ],
  [
    'US dollars per organization and month',
    { usdPerOrganizationMonth: 9 },
    (n: number) => ({ organizationMonth: usd(n) }),
    9,
  ],
])('exhausts the budget of %s when it is reached, not before', (label, limit, totalsAt, reached) => {
  const budgets = Budgets.parse(limit);
  expect(findExhaustedBudget(budgets, { ...noSpend, ...totalsAt(reached - 0.001) })).toBeUndefined();
  expect(findExhaustedBudget(budgets, { ...noSpend, ...totalsAt(reached) })).toBe(
    `The budget of ${reached} ${label} is used up.`,
  );
  expect(findExhaustedBudget(budgets, { ...noSpend, ...totalsAt(reached + 1) })).toContain(label);
});

type RunRef = { orgId: OrgId; detectionId: string; id: string; conversation: string };
const newRun = (orgId: OrgId, detectionId = uuidv7()): RunRef => ({
  orgId,
  detectionId,
  id: uuidv7(),
  conversation: uuidv7(),
});
const check = (run: RunRef, budgets: Record<string, number>) =>
  reserveStep(
    deps,
    {
      spender: { ...run, spent: zero },
      conversation: run.conversation,
      budgets: Budgets.parse(budgets),
      runMs: 0,
    },
    model,
  ).then(
    ({ outcome }) => (outcome === 'reserved' ? 'admitted' : outcome),
    (error: { failure: { kind: string } }) => error.failure.kind,
  );
const spend = (run: RunRef, tokens: number) =>
  inOrg(db, run.orgId, async (tx) => {
    await countUsage(tx, run, { alias: 'm', calls: 1, tokens, costUsd: 0 }, now);
    await releaseReservation(tx, { orgId: run.orgId, runId: run.id, conversation: run.conversation });
  });

test('admits one of several concurrent runs to the rest of a budget, and the next when less was used', async () => {
  const orgId = await newOrgId(db);
  const runs = Array.from({ length: 8 }, () => newRun(orgId));
  await spend(runs[0]!, 900);
  const budgets = { tokensPerOrganizationMonth: 1000 };
  const outcomes = await Promise.all(runs.map((one) => check(one, budgets)));
  expect(outcomes.toSorted()).toEqual(['admitted', ...Array.from({ length: 7 }, () => 'budget_exceeded')]);
  const winner = runs[outcomes.indexOf('admitted')]!;
  await spend(winner, 99);
  const loser = runs.find((one) => one !== winner)!;
  expect(await check(loser, budgets)).toBe('admitted');
});

test('counts what other conversations of the same run have reserved against the budget of the run', async () => {
  const run = newRun(await newOrgId(db));
  const conversations = Array.from({ length: 6 }, () => ({ ...run, conversation: uuidv7() }));
  // A step reserves 200 tokens, so the first call brings the run to its budget of 150.
  const outcomes = await Promise.all(conversations.map((one) => check(one, { tokensPerRun: 150 })));
  expect(outcomes.toSorted()).toEqual(['admitted', ...Array.from({ length: 5 }, () => 'blocked')]);
  const admitted = conversations[outcomes.indexOf('admitted')]!;
  expect(await check(admitted, { tokensPerRun: 150 })).toBe('admitted');
});

test('lets conversations of one run take turns when only their own calls leave no room, and exceeds the budget by one step', async () => {
  const orgId = await newOrgId(db);
  const spender = { orgId, detectionId: uuidv7(), id: uuidv7(), spent: { ...zero }, elapsedMs: 0 };
  const meter = createSpendMeter(deps, { spender, overrides: { tokensPerRun: 450 }, model });
  let [active, mostActive] = [0, 0];
  const call = async (): Promise<string> => {
    const { checkBudget, recordStep } = meter.startConversation();
    try {
      await checkBudget(new AbortController().signal);
    } catch (error) {
      return (error as { failure: { kind: string } }).failure.kind;
    }
    mostActive = Math.max(mostActive, ++active);
    await new Promise(setImmediate);
    active -= 1;
    const step = { kind: 'call' as const, entity: 'e', at: now.toISOString(), ms: 1, model: 'm', costUsd: 0 };
    await recordStep({ ...step, tokens: { input: 80, output: 20 } });
    return 'called';
  };
  const outcomes = await Promise.all(Array.from({ length: 9 }, call));
  // Each call reserves 200 tokens and uses 100.
  expect(outcomes.filter((outcome) => outcome === 'called')).toHaveLength(5);
  expect(outcomes.filter((outcome) => outcome === 'budget_exceeded')).toHaveLength(4);
  expect(spender.spent.tokens).toBe(500);
  expect(mostActive).toBeLessThanOrEqual(3);
  const waiting = new AbortController();
  const blocked = createSpendMeter(deps, {
    spender: { ...spender, spent: zero, id: uuidv7() },
    overrides: { tokensPerRun: 100 },
    model,
  });
  await blocked.startConversation().checkBudget(waiting.signal);
  const second = blocked.startConversation().checkBudget(waiting.signal);
  setTimeout(() => waiting.abort('stopped'), 20);
  await expect(second).rejects.toBe('stopped');
});

test('counts daily budgets per detection and monthly budgets per organization', async () => {
  const orgId = await newOrgId(db);
  const [one, other] = [newRun(orgId), newRun(orgId)];
  const foreign = newRun(await newOrgId(db));
  await spend(one, 1000);
  const day = { tokensPerDetectionDay: 1000 };
  const month = { tokensPerOrganizationMonth: 1000 };
  expect(await Promise.all([check(one, day), check(other, day), check(other, month), check(foreign, month)])).toEqual([
    'budget_exceeded',
    'admitted',
    'budget_exceeded',
    'admitted',
  ]);
  now = new Date('2026-04-01T00:00:00Z');
  expect(await Promise.all([check(one, day), check(other, month)])).toEqual(['admitted', 'admitted']);
  now = new Date('2026-03-31T12:00:00Z');
});

test('expires the reservation of a lost worker', async () => {
  const orgId = await newOrgId(db);
  const [lost, next] = [newRun(orgId), newRun(orgId)];
  const budgets = { tokensPerOrganizationMonth: 150 };
  expect([await check(lost, budgets), await check(next, budgets)]).toEqual(['admitted', 'budget_exceeded']);
  await inOrg(db, orgId, (tx) =>
    sql`update model_reservations set until_at = clock_timestamp() - interval '1 s'`.execute(tx),
  );
  expect(await check(next, budgets)).toBe('admitted');
});

test('overrides single budgets of the alias', () => {
  expect(mergeBudgets(model, { tokensPerRun: 7 })).toEqual({ ...model.entry.budgets, tokensPerRun: 7 });
});

test('the quotas of the operator apply to all models together, and concurrent runs exceed them by one call at most', async () => {
  const orgId = await newOrgId(db);
  await acrossOrgs(db, (tx) => storeQuotasAcrossOrgs(tx, orgId, { ...noQuotas, modelUsdPerDay: 1 }));
  const cost = (alias: string, costUsd: number) =>
    inOrg(db, orgId, (tx) =>
      countUsage(tx, { orgId, detectionId: uuidv7() }, { alias, calls: 1, tokens: 1, costUsd }, now),
    );
  await cost('another', 0.9);
  expect(await check(newRun(orgId), {})).toBe('admitted');
  await cost('a third', 0.1);
  expect(await check(newRun(orgId), {})).toBe('budget_exceeded');
  now = new Date('2026-04-01T00:00:01Z');
  expect(await check(newRun(orgId), {})).toBe('admitted');
  await acrossOrgs(db, (tx) => storeQuotasAcrossOrgs(tx, orgId, { ...noQuotas, modelUsdPerMonth: 2 }));
  await cost('another', 2);
  expect(await check(newRun(orgId), {})).toBe('budget_exceeded');
  expect(await check(newRun(await newOrgId(db)), {})).toBe('admitted');
});
