import { expect, test } from 'vitest';
import { testDatabase } from '../../../../../test/support/database.ts';
import { getSteps } from '../../read-runs.ts';
import {
  listRunRows,
  login,
  misquoteOn,
  startJudgedRuns,
  verdictOn,
} from '../../../../../test/support/detection/judged-runs.ts';
import { hour } from '../../../../../test/support/detection/scripted-runs.ts';

const testDb = await testDatabase();
const loginIn = ({ from }: { from: Date }) => ({
  ...login('root'),
  _id: from.toISOString(),
  _time: from.toISOString(),
});

test('judges each entity in a separate context and stores tokens, cost, steps and score', async () => {
  const { t, stand } = await startJudgedRuns(testDb, (asked) => verdictOn(asked));
  await t.runAt(hour(1));
  const [run] = await listRunRows(t);
  expect(run).toMatchObject({
    status: 'completed',
    model: 'anthropic/stand-in',
    model_alias: 'm',
    tokens: 480,
    hit_count: 2,
    score_basis: 'checked',
  });
  expect(Number(run!['cost_usd'])).toBeCloseTo(0.008);
  expect(Number(run!['score'])).toBe(100);
  expect([stand.asked.length, stand.checked.length]).toEqual([2, 2]);
  for (const [asked, own, other] of [
    [stand.asked[0]!, 'bob', 'root'],
    [stand.asked[1]!, 'root', 'bob'],
  ] as const) {
    expect(asked.raw).toContain(own);
    expect(asked.raw).not.toContain(other);
  }
  expect(await t.select`select entity, severity, confidence from hits order by entity`).toEqual([
    { entity: 'bob', severity: 'medium', confidence: 77 },
    { entity: 'root', severity: 'medium', confidence: 77 },
  ]);
  const { steps, nextCursor } = await getSteps(t.deps, t.caller, run!.id, { limit: '1' });
  expect(steps).toMatchObject([{ attempt: 1, n: 1, kind: 'call', entity: 'bob', tokens: { input: 100, output: 20 } }]);
  expect(JSON.stringify(steps[0]!.sent)).toContain('ConsoleLogin');
  const rest = await getSteps(t.deps, t.caller, run!.id, { cursor: nextCursor! });
  expect(rest).toMatchObject({
    steps: [
      { n: 2, entity: 'bob' },
      { n: 3, entity: 'root' },
      { n: 4, entity: 'root' },
    ],
    nextCursor: null,
  });
  expect(await t.select`select alias, tokens from model_usage`).toEqual([{ alias: 'm', tokens: 480 }]);
});

test('states for every step and verdict which candidate it belongs to', async () => {
  const { t } = await startJudgedRuns(testDb, (asked) => verdictOn(asked), {
    detection: { suppressionMinutes: 0 },
    answer: ({ window }) => [loginIn(window)],
  });
  // One run of three windows, each with a candidate of the same entity.
  await t.runAt(hour(3));
  const candidates = await t.select<{ id: string }>`select id from candidates order by window_from`;
  const ids = candidates.map(({ id }) => id);
  const [run] = await t.select<{
    id: string;
    entities: string;
  }>`select id, entities from runs order by window_to desc limit 1`;
  const { steps } = await getSteps(t.deps, t.caller, run!.id, {});
  // Of each, a verdict and the check of its claim. They are judged side by side.
  expect(steps.map(({ candidateId }) => candidateId).toSorted()).toEqual(ids.flatMap((id) => [id, id]));
  const verdicts = JSON.parse(run!.entities) as { candidateId: string }[];
  expect(verdicts.map(({ candidateId }) => candidateId).toSorted()).toEqual(ids);
});

test('uses the analyst for `default` and fails for an alias that is not configured', async () => {
  const { t } = await startJudgedRuns(testDb, (asked) => verdictOn(asked));
  await expect(t.newDetection({ modelAlias: 'other' })).rejects.toMatchObject({
    status: 400,
    errors: [{ pointer: '/modelAlias' }],
  });
  await t.newDetection({ modelAlias: 'default' });
  await t.runAt(hour(1));
  expect((await listRunRows(t)).map((run) => run['model']).toSorted()).toEqual(['analyst', 'anthropic/stand-in']);
});

test('keeps a finding whose facts the model misquotes twice as an undecided hit, and asks for proof once', async () => {
  const { t, stand } = await startJudgedRuns(testDb, (asked) =>
    asked.raw.includes('root') ? misquoteOn(asked) : verdictOn(asked),
  );
  await t.runAt(hour(1));
  expect(stand.asked).toHaveLength(3);
  const hits = await t.select<{ claims: string }>`
    select entity, judged, verdict, open_question is null as decided, evidence <> '[]' as evidence, claims from hits where entity <> 'ada' order by 1`;
  expect(hits).toMatchObject([
    { entity: 'bob', judged: true, verdict: 'raise', decided: true, evidence: true },
    { entity: 'root', judged: true, verdict: 'undecided', decided: false, evidence: false },
  ]);
  expect(JSON.parse(hits[1]!.claims)).toMatchObject([{ status: 'unproven', text: 'It deleted the trail.' }]);
  const [run] = await listRunRows(t);
  expect(String(run!['warnings'])).toContain('claims_unproven');
});
