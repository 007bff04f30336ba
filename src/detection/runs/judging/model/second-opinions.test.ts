import { expect, test } from 'vitest';
import { testDatabase } from '../../../../../test/support/database.ts';
import { requestRun } from '../../request-run.ts';
import { startModelStandIn, type ModelBrain } from '../../../../../test/support/models/model-stand-in.ts';
import { createScriptedModels } from '../../../../../test/support/models/scripted-models.ts';
import {
  claimOn,
  dismissalOn,
  excuse,
  listRunRows,
  login,
  runbook,
  startJudgedRuns,
  verdictOn,
} from '../../../../../test/support/detection/judged-runs.ts';
import { countCandidates, hour } from '../../../../../test/support/detection/scripted-runs.ts';

const testDb = await testDatabase();

const proven = { contextDocs: [runbook] };

test('dismisses with proof after a second question without the values of the case', async () => {
  const { t, stand } = await startJudgedRuns(testDb, (asked) => dismissalOn(asked), { detection: proven });
  await t.runAt(hour(1));
  expect(await t.select`select 1 from hits`).toEqual([]);
  expect(await countCandidates(t)).toEqual({ judged: 2 });
  const second = stand.checked.filter(({ tools: [name] }) => name === 'conclude');
  expect([stand.asked.length, second.length]).toEqual([2, 2]);
  for (const { raw } of second) {
    expect(raw).toContain('such sign-ins are planned');
    expect(raw).not.toMatch(/root|bob|ConsoleLogin|e-root|e-bob/);
  }
  const [run] = await listRunRows(t);
  expect(run).toMatchObject({ hit_count: 0, status: 'completed' });
  expect(Number(run!['score'])).toBe(100);
});

test('asks the cheapest alias that may answer for the detection the second question, and the detection’s own if it fails', async () => {
  const { t, id, stand } = await startJudgedRuns(testDb, (asked) => dismissalOn(asked), { detection: proven });
  const [cheap, other] = [
    await startModelStandIn('anthropic', () => ({})),
    await startModelStandIn('anthropic', () => ({})),
  ];
  const price = (n: number) => ({ price: { inputPerMillion: n, outputPerMillion: n } });
  t.deps.models = createScriptedModels({
    m: { baseUrl: stand.url, fallbacks: ['cheap'] },
    cheap: { baseUrl: cheap.url, ...price(1) },
    // Not a fallback, so that no detection with `m` allows it.
    other: { baseUrl: other.url, ...price(0.1) },
  });
  const isSecond = ({ tools: [name] }: { tools: string[] }): boolean => name === 'conclude';
  await t.runAt(hour(1));
  expect(await t.select`select 1 from hits`).toEqual([]);
  expect([cheap, other, stand].map(({ checked }) => checked.filter(isSecond).length)).toEqual([2, 0, 0]);
  expect(await t.select`select alias, tokens from model_usage order by 1`).toMatchObject([
    { alias: 'cheap', tokens: 240 },
    { alias: 'm' },
  ]);
  cheap.check(() => ({ status: 503 }));
  await requestRun(t.deps, t.caller, id, { from: hour(0), to: hour(1) });
  await t.runAt(hour(2));
  expect(stand.checked.filter(isSecond)).not.toEqual([]);
  expect(await t.select`select 1 from hits`).toEqual([]);
});

test.each<[string, ModelBrain]>([
  ['raises', () => ({ calls: [{ name: 'conclude', input: { reason: 'No.', verdict: 'raise' } }] })],
  ['does not know', () => ({ calls: [{ name: 'conclude', input: { reason: 'No.', verdict: 'undecided' } }] })],
  ['gives no answer', () => ({ text: 'I am not sure.' })],
  ['refuses', () => ({ refuse: true })],
])('leaves a case undecided that the second question %s', async (_name, conclude) => {
  const { t, stand } = await startJudgedRuns(testDb, (asked) => dismissalOn(asked), {
    detection: proven,
  });
  stand.check((asked, nth) =>
    asked.tools[0] === 'conclude'
      ? conclude(asked, nth)
      : { calls: [{ name: 'answer', input: { reason: 'So it is.', answer: 'supported' } }] },
  );
  await t.runAt(hour(1));
  expect(await t.select`select distinct verdict, judged, unjudged_reason from hits`).toEqual([
    { verdict: 'undecided', judged: true, unjudged_reason: null },
  ]);
});

test.each<[string, Record<string, unknown>]>([
  ['proof', { claims: [] }],
  ['the confidence of the detection', { confidence: 60 }],
])('leaves a dismissal without %s undecided, and asks no second question', async (_name, overrides) => {
  const { t, stand } = await startJudgedRuns(testDb, (asked) => dismissalOn(asked, overrides), { detection: proven });
  await t.runAt(hour(1));
  expect(await t.select`select verdict, open_question is null as decided from hits`).toEqual([
    { verdict: 'undecided', decided: false },
    { verdict: 'undecided', decided: false },
  ]);
  expect(stand.checked.filter(({ tools: [name] }) => name === 'conclude')).toEqual([]);
});

test('keeps a hit of severity high that the model dismisses with proof, with its reason', async () => {
  const { t } = await startJudgedRuns(testDb, (asked) => dismissalOn(asked), {
    detection: proven,
    answer: () => [{ ...login('root'), severity: 'high' }],
  });
  await t.runAt(hour(1));
  expect(await t.select`select verdict, severity, model_disagrees as why from hits`).toEqual([
    { verdict: 'dismiss', severity: 'high', why: excuse.text },
  ]);
});

test('judges the other candidates when the verifier refuses a claim', async () => {
  const { t, stand } = await startJudgedRuns(testDb, (asked) =>
    verdictOn(asked, asked.raw.includes('root') ? { claims: [claimOn(asked, 'REFUSE: it signed in.')] } : {}),
  );
  stand.check((asked) =>
    asked.raw.includes('REFUSE')
      ? { refuse: true }
      : { calls: [{ name: 'answer', input: { reason: 'So it is.', answer: 'supported' } }] },
  );
  await t.runAt(hour(1));
  expect(await t.select`select entity, verdict, judged from hits order by 1`).toEqual([
    { entity: 'bob', verdict: 'raise', judged: true },
    { entity: 'root', verdict: 'undecided', judged: true },
  ]);
});

const later = ['root', 'bob'].map((user) => ({ ...login(user), _time: hour(1) }));

test('keeps verdicts as undecided that an exhausted verifier cannot look at, and judges the other candidates', async () => {
  const { t, stand } = await startJudgedRuns(
    testDb,
    (asked) => (asked.raw.includes('bob') ? dismissalOn(asked) : verdictOn(asked)),
    { detection: proven, answer: ({ window }) => (window.from.toISOString() === hour(0) ? [login('ada')] : later) },
  );
  const verifier = await startModelStandIn('anthropic');
  t.deps.models = createScriptedModels({
    m: stand.url,
    verifier: { baseUrl: verifier.url, budgets: { usdPerOrganizationMonth: 0 } },
  });
  // The first call uses the budget up.
  await t.runAt(hour(1));
  await t.runAt(hour(2));
  expect(verifier.checked).toHaveLength(1);
  expect(stand.asked).toHaveLength(3);
  type Hit = { claims: string; question: string };
  const hits =
    await t.select<Hit>`select entity, verdict, judged, claims, open_question as question from hits where entity <> 'ada' order by 1`;
  expect(hits).toMatchObject([
    { entity: 'bob', verdict: 'undecided', judged: true },
    { entity: 'root', verdict: 'undecided', judged: true },
  ]);
  for (const { claims } of hits)
    expect(JSON.parse(claims)[0]).toMatchObject({ status: 'cited', reason: expect.stringContaining('not verified: ') });
  expect(hits[0]!.question).toContain('The judge would dismiss it');
  const run = (await listRunRows(t)).at(-1);
  expect(run).toMatchObject({ status: 'completed', warnings: expect.stringContaining('claims_unverified') });
  expect(run!['warnings']).not.toContain('raised_unjudged');
});

test('lets the alias in escalateTo decide what the first one leaves undecided, and shows both', async () => {
  const { t, stand } = await startJudgedRuns(
    testDb,
    (asked) => {
      if (!asked.raw.includes('root')) return verdictOn(asked);
      const hasLooked = asked.turns.length > 1;
      return hasLooked
        ? verdictOn(asked, { verdict: 'undecided' })
        : { calls: [{ name: 'entity_profile', input: {} }] };
    },
    { detection: { toolNames: ['entity_profile'] } },
  );
  const strong = await startModelStandIn('anthropic', (asked) =>
    asked.turns.length > 1 ? verdictOn(asked, { confidence: 91 }) : { calls: [{ name: 'entity_profile', input: {} }] },
  );
  t.deps.models = createScriptedModels({
    m: { baseUrl: stand.url, escalateTo: 'strong' },
    strong: { baseUrl: strong.url, price: { inputPerMillion: 100, outputPerMillion: 500 } },
  });
  await t.runAt(hour(1));
  expect(await t.select`select entity, verdict, confidence from hits order by 1`).toEqual([
    { entity: 'bob', verdict: 'raise', confidence: 77 },
    { entity: 'root', verdict: 'raise', confidence: 91 },
  ]);
  expect([stand.asked.length, strong.asked.length]).toEqual([3, 2]);
  const steps = (await t.select<{ body: string }>`select body from run_steps order by n`).map(
    ({ body }) => JSON.parse(body) as { entity: string; alias?: string; observation?: { id: string } },
  );
  const own = steps.filter(({ entity }) => entity === 'root');
  expect(own.flatMap(({ observation }) => observation?.id ?? [])).toEqual(['o1', 'o2']);
  expect([...new Set(own.flatMap(({ alias }) => alias ?? []))]).toEqual(['m', 'strong']);
  const usage = await t.select<{
    alias: string;
    cost: number;
  }>`select alias, cost_usd::float as cost from model_usage order by 1`;
  expect(usage.map(({ alias }) => alias)).toEqual(['m', 'strong']);
  const [run] = await listRunRows(t);
  expect(Number(run!['cost_usd'])).toBeCloseTo(usage[0]!.cost + usage[1]!.cost);
});

test('leaves a case undecided if the alias in escalateTo rejects its key', async () => {
  const { t, stand } = await startJudgedRuns(testDb, (asked) => verdictOn(asked, { verdict: 'undecided' }));
  const strong = await startModelStandIn('anthropic', () => ({ status: 401 }));
  t.deps.models = createScriptedModels({
    m: { baseUrl: stand.url, escalateTo: 'strong' },
    strong: { baseUrl: strong.url },
  });
  await t.runAt(hour(1));
  expect(await t.select`select distinct verdict, judged from hits`).toEqual([{ verdict: 'undecided', judged: true }]);
  expect((await listRunRows(t))[0]).toMatchObject({
    status: 'completed',
    warnings: expect.stringContaining('escalation_failed'),
  });
});
