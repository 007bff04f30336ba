import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { testDatabase } from '../../test/database.ts';
import { startStandIn, type Asked, type Brain } from '../../test/model-stand-in.ts';
import { blocksOf, modelsAt } from '../../test/models.ts';
import { startRuns, type Answer, type RunsTest } from '../../test/runs.ts';
import type { CreateDetection } from '../detections/input.ts';
import { checkPausedModels, findPause } from './pauses.ts';
import { getAgreement } from './agreement.ts';
import { replayRun } from './replay.ts';
import { reviewNext } from './review.ts';
import { endShadow, getShadow, setShadow } from './shadow.ts';
import { getSteps } from './steps.ts';
import { cancelRun } from './cancel.ts';

const on = await testDatabase();
const hour = (n: number): string => new Date(Date.UTC(2026, 2, 2, n)).toISOString();
const login = (user: string, n = 0) => ({ _id: `e-${user}-${n}`, _time: hour(0), user, action: 'ConsoleLogin' });
const signal = new AbortController().signal;

/** A verdict on whatever entity is asked about, from its own first row. */
export function verdictOn(asked: Asked, more: Record<string, unknown> = {}) {
  const [facts, rows] = blocksOf(asked.turns[0]!.text);
  const { entity, entityType } = JSON.parse(facts!) as { entity: string; entityType: string };
  const [row] = JSON.parse(rows!) as { rowId: string; fields: Record<string, string> }[];
  const [field, value] = Object.entries(row!.fields).find(([name]) => name === 'action')!;
  const evidence = [{ rowId: row!.rowId, field, value, why: 'the sign-in' }];
  const verdict = {
    entity,
    entityType,
    triggered: true,
    confidence: 77,
    severity: 'low',
    headline: 'A sign-in',
    summary: 'It signed in.',
    evidence,
    nextStep: 'Ask.',
    ...more,
  };
  return { calls: [{ name: 'submit_verdict', input: verdict }] };
}

type Options = {
  answer?: Answer;
  entry?: Record<string, unknown>;
  detection?: Partial<CreateDetection>;
  judge?: Brain;
};

async function start(brain: Brain, { answer, entry, detection, judge }: Options = {}) {
  const stand = await startStandIn('anthropic', brain);
  const judgeStand = judge && (await startStandIn('anthropic', judge));
  const t = await startRuns(
    on,
    answer ?? (({ window }) => (window.from.toISOString() === hour(0) ? [login('root'), login('bob')] : [])),
  );
  t.deps.models = modelsAt({ m: stand.url, ...(judgeStand ? { judge: judgeStand.url } : {}) }, entry);
  const id = await t.newDetection({ modelAlias: 'm', planningMode: 'never', ...detection });
  return { t, id, stand, judgeStand };
}

const runsOf = (t: RunsTest) =>
  t.select(
    sql<
      Record<string, unknown> & { id: string; failure: string | null }
    >`select id, status, model, model_alias, tokens, cost_usd, score, score_basis, warnings, failure, hit_count, attempt from runs order by due_at, id`,
  );
const again = (t: RunsTest) => t.select(sql`update run_queue set retry_at = null`);
const failureOf = async (t: RunsTest) => JSON.parse(String((await runsOf(t)).at(-1)?.failure));

test('a model judges each entity in a context of its own; tokens, cost, steps and score are kept', async () => {
  const { t, stand } = await start((asked) => verdictOn(asked));
  await t.runAt(hour(1));
  const [run] = await runsOf(t);
  expect(run).toMatchObject({
    status: 'completed',
    model: 'anthropic/stand-in',
    model_alias: 'm',
    tokens: 240,
    hit_count: 2,
    score_basis: 'checked',
  });
  expect(Number(run!['cost_usd'])).toBeCloseTo(0.004);
  expect(Number(run!['score'])).toBe(100);
  expect(stand.asked).toHaveLength(2);
  for (const [asked, own, other] of [
    [stand.asked[0]!, 'bob', 'root'],
    [stand.asked[1]!, 'root', 'bob'],
  ] as const) {
    expect(asked.raw).toContain(own);
    expect(asked.raw).not.toContain(other);
  }
  expect(await t.select(sql`select entity, severity, confidence from hits order by entity`)).toEqual([
    { entity: 'bob', severity: 'low', confidence: 77 },
    { entity: 'root', severity: 'low', confidence: 77 },
  ]);
  const { steps, nextCursor } = await getSteps(t.deps, t.caller, run!.id, { limit: '1' });
  expect(steps).toMatchObject([{ attempt: 1, n: 1, kind: 'call', entity: 'bob', tokens: { input: 100, output: 20 } }]);
  expect(JSON.stringify(steps[0]!.sent)).toContain('ConsoleLogin');
  const rest = await getSteps(t.deps, t.caller, run!.id, { cursor: nextCursor! });
  expect(rest).toMatchObject({ steps: [{ n: 2, entity: 'root' }], nextCursor: null });
  expect(await t.select(sql`select alias, tokens from model_usage`)).toEqual([{ alias: 'm', tokens: 240 }]);
});

test('a model without a configured alias changes nothing: default is the analyst, an unknown alias is refused', async () => {
  const { t } = await start((asked) => verdictOn(asked));
  await expect(t.newDetection({ modelAlias: 'other' })).rejects.toMatchObject({
    status: 400,
    errors: [{ pointer: '/modelAlias' }],
  });
  await t.newDetection({ modelAlias: 'default' });
  await t.runAt(hour(1));
  expect((await runsOf(t)).map((run) => run['model']).toSorted()).toEqual(['analyst', 'anthropic/stand-in']);
});

test('an outage is retried, verdicts that are there are kept, and the run ends well', async () => {
  const { t, stand } = await start((asked, nth) => (nth === 2 ? { status: 529 } : verdictOn(asked)));
  await t.tryAt(hour(1));
  expect(await t.select(sql`select entity from hits`)).toEqual([{ entity: 'bob' }]);
  expect((await runsOf(t))[0]).toMatchObject({ status: 'queued' });
  expect(await failureOf(t)).toMatchObject({ kind: 'model_unavailable', blame: 'upstream', retryable: true });
  await again(t);
  await t.runAt(hour(1));
  expect((await runsOf(t))[0]).toMatchObject({ status: 'completed', attempt: 2, hit_count: 2, tokens: 240 });
  expect(stand.asked).toHaveLength(3);
});

test('a refused key pauses the alias with one event; the window stays examined, later runs wait, a check ends it', async () => {
  const { t, stand } = await start(() => ({ status: 401 }), {
    answer: ({ window }) => [{ ...login('root'), _id: window.from.toISOString(), _time: window.from.toISOString() }],
  });
  await t.select(sql`
    insert into outputs (organization_id, id, kind, name, shown_url, sealed, event_types, created_at, updated_at)
    values (${t.orgId}, gen_random_uuid(), 'webhook', 'x', 'x', '', '{model.paused,model.resumed}', now(), now())`);
  const eventsOf = () =>
    t.select(sql`
      select o.type, o.resource_id, o.body::json #>> '{data,alias}' as alias from outbox o
      join deliveries d on d.event_id = o.id where o.type like 'model.%' order by o.id`);
  await t.runAt(hour(1));
  expect((await runsOf(t))[0]).toMatchObject({ status: 'failed' });
  expect(await failureOf(t)).toMatchObject({ kind: 'model_refused_key', blame: 'upstream', retryable: false });
  expect(await t.select(sql`select covered_to from coverage`)).toEqual([{ covered_to: new Date(hour(1)) }]);
  await t.runAt(hour(2));
  expect(await failureOf(t)).toMatchObject({ kind: 'model_paused' });
  expect(stand.asked).toHaveLength(1);
  expect(await eventsOf()).toEqual([{ type: 'model.paused', resource_id: 'm', alias: 'm' }]);
  expect(await t.select(sql`select enabled from agents where is_built_in = false`)).toEqual([{ enabled: true }]);
  expect(await checkPausedModels(t.deps, signal)).toBe(0);
  const due = () => t.select(sql`update model_pauses set check_at = now() - interval '1 second'`);
  await due();
  await checkPausedModels(t.deps, signal);
  expect(await findPause(t.deps, t.orgId, 'm')).toMatchObject({ kind: 'model_refused_key' });
  stand.think((asked) => (asked.tools.length === 0 ? { text: 'yes' } : verdictOn(asked)));
  await due();
  await checkPausedModels(t.deps, signal);
  expect(await findPause(t.deps, t.orgId, 'm')).toBeUndefined();
  expect(await eventsOf()).toMatchObject([{ type: 'model.paused' }, { type: 'model.resumed', alias: 'm' }]);
  await t.runAt(hour(3));
  expect((await runsOf(t)).at(-1)).toMatchObject({ status: 'completed', hit_count: 1 });
  expect(await t.select(sql`select entity, occurrences from hits`)).toEqual([{ entity: 'root', occurrences: 3 }]);
});

test.each([
  ['a run', { tokensPerRun: 100 }],
  ['a run in dollars', { usdPerRun: 0.001 }],
  ['a detection and day', { tokensPerDetectionDay: 100 }],
  ['an organization and month', { usdPerOrganizationMonth: 0.001 }],
])('a budget of %s that is used up fails the run, and its candidates wait', async (_name, budgets) => {
  const { t, stand } = await start((asked) => verdictOn(asked), { entry: { budgets } });
  await t.runAt(hour(1));
  expect((await runsOf(t))[0]).toMatchObject({ status: 'failed', tokens: 120 });
  expect(await failureOf(t)).toMatchObject({ kind: 'budget_exceeded', retryable: false });
  expect(await t.select(sql`select state, count(*) as n from candidates group by state order by state`)).toEqual([
    { state: 'judged', n: 1 },
    { state: 'pending', n: 1 },
  ]);
  expect(stand.asked).toHaveLength(1);
});

test('a model that is away holds up no window: each is examined in its turn, and what waited a day becomes a hit from its facts', async () => {
  const { t } = await start(() => ({ status: 401 }), {
    detection: { suppressionMinutes: 0 },
    answer: ({ window }) => [{ ...login('root'), _id: window.from.toISOString(), _time: window.from.toISOString() }],
  });
  const covered = () => t.select(sql`select covered_from, covered_to from coverage`);
  await t.runAt(hour(1));
  await t.runAt(hour(3));
  expect(await covered()).toEqual([{ covered_from: new Date(hour(0)), covered_to: new Date(hour(3)) }]);
  expect((await runsOf(t)).at(-1)).toMatchObject({ status: 'failed', hit_count: 0 });
  expect(await failureOf(t)).toMatchObject({ kind: 'model_paused' });
  await t.runAt(hour(26));
  expect(await covered()).toEqual([{ covered_from: new Date(hour(0)), covered_to: new Date(hour(26)) }]);
  expect(await t.select(sql`select window_from, judged from hits`)).toEqual([
    { window_from: new Date(hour(0)), judged: false },
  ]);
  expect(await t.select(sql`select count(*) as n from candidates where state = 'pending'`)).toEqual([{ n: 25 }]);
  expect(await t.select(sql`select 1 from gaps`)).toEqual([]);
});

test('a run that is cancelled ends at its next step, with what it has', async () => {
  const { t, stand } = await start((asked) => verdictOn(asked));
  stand.think(async (asked, nth) => {
    if (nth === 2) await cancelRun(t.deps, t.caller, (await runsOf(t))[0]!.id);
    return verdictOn(asked);
  });
  await t.runAt(hour(1));
  expect((await runsOf(t))[0]).toMatchObject({ status: 'cancelled', hit_count: 1, tokens: 120 });
});

test('a replay shows both verdicts under another prompt, another model or the analyst, and stores nothing but its cost', async () => {
  const { t, stand } = await start((asked) =>
    asked.system.includes('Be strict') ? verdictOn(asked, { triggered: false, confidence: 20 }) : verdictOn(asked),
  );
  await t.runAt(hour(1));
  const [run] = await runsOf(t);
  await t.select(sql`insert into agent_prompts (organization_id, id, agent_id, version, prompt, created_at)
    select organization_id, gen_random_uuid(), agent_id, 2, 'Be strict.', now() from agent_prompts where version = 1`);
  const strict = await replayRun(t.deps, t.caller, run!.id, { promptVersion: 2, limit: 10 });
  expect(strict).toMatchObject({ promptVersion: 2, modelAlias: 'm', tokens: 240, candidates: 2 });
  expect(
    strict.compared.map(({ entity, before, after, differs }) => [entity, before?.triggered, after?.triggered, differs]),
  ).toEqual([
    ['bob', true, false, ['triggered', 'confidence']],
    ['root', true, false, ['triggered', 'confidence']],
  ]);
  const asked = stand.asked.length;
  const plain = await replayRun(t.deps, t.caller, run!.id, { modelAlias: 'analyst', limit: 1 });
  expect(plain).toMatchObject({
    model: 'analyst',
    tokens: 0,
    compared: [{ entity: 'bob', after: { triggered: true } }],
  });
  expect(stand.asked).toHaveLength(asked);
  expect((await runsOf(t))[0]).toMatchObject({ tokens: 240, hit_count: 2 });
  expect(await t.select(sql`select tokens from model_usage`)).toEqual([{ tokens: 480 }]);
  await expect(replayRun(t.deps, t.caller, run!.id, { promptVersion: 9, limit: 1 })).rejects.toMatchObject({
    status: 400,
  });
});

const gradeOf = (points: unknown) => ({
  calls: [
    {
      name: 'grade',
      input: {
        reasoning: 'The rows were enough.',
        verdicts: [
          { entity: 'bob', upheld: true },
          { entity: 'root', upheld: false },
          { entity: 'nobody', upheld: true },
        ],
        points,
      },
    },
  ],
});

test('a judge model grades the run after it is delivered; its outage is no zero, and agreement with people is shown', async () => {
  let isOut = true;
  const judge: Brain = () => (isOut ? { status: 503 } : gradeOf(15));
  const { t, id, judgeStand } = await start((asked) => verdictOn(asked), { judge });
  await t.runAt(hour(1));
  expect((await runsOf(t))[0]).toMatchObject({ status: 'completed', hit_count: 2, score: null, score_basis: null });
  await reviewNext(t.deps, signal);
  expect((await runsOf(t))[0]).toMatchObject({ score: null });
  expect(await t.select(sql`select score_basis, runs, scores from run_days`)).toEqual([
    { score_basis: '', runs: 1, scores: 0 },
  ]);
  expect(await reviewNext(t.deps, signal)).toBe(false);
  isOut = false;
  await t.select(sql`update run_reviews set retry_at = now()`);
  expect(await reviewNext(t.deps, signal)).toBe(true);
  // Evidence 40 of 40, coverage 20 of 20, tools 15 of 20, format 10 of 10.
  expect((await runsOf(t))[0]).toMatchObject({ score: 94.4, score_basis: 'judge' });
  expect(
    await t.select(sql`select score_basis, runs, triggered, scores, score_sum from run_days where runs > 0`),
  ).toEqual([{ score_basis: 'judge', runs: 1, triggered: 1, scores: 1, score_sum: 94.4 }]);
  expect(await t.select(sql`select 1 from run_reviews`)).toEqual([]);
  expect(judgeStand!.asked[0]!.forced).toBe('grade');
  const fields = Object.keys(
    (judgeStand!.asked[0]!.body as { tools: { input_schema: { properties: object } }[] }).tools[0]!.input_schema
      .properties,
  );
  expect(fields.indexOf('reasoning')).toBeLessThan(fields.indexOf('points'));
  expect(await getAgreement(t.deps, t.caller, id)).toEqual({ reviewed: 0, agreed: 0, agreement: null });
  await t.select(sql`update hits set status = 'true_positive'`);
  expect(await getAgreement(t.deps, t.caller, id)).toEqual({ reviewed: 2, agreed: 1, agreement: 50 });
});

test('what a judge model costs counts towards its budgets, whatever its grade is worth', async () => {
  const { t } = await start((asked) => verdictOn(asked), { judge: () => ({ text: 'Well done.' }) });
  await t.runAt(hour(1));
  await reviewNext(t.deps, signal);
  expect((await runsOf(t))[0]).toMatchObject({ score: null });
  expect(await t.select(sql`select tokens from model_usage where alias = 'judge'`)).toEqual([{ tokens: 120 }]);
});

test('a shadow judges alongside, delivers nothing, and its differences are listed', async () => {
  const { t, id } = await start((asked) =>
    verdictOn(asked, asked.system.includes('Be strict') && asked.raw.includes('bob') ? { triggered: false } : {}),
  );
  await t.select(sql`insert into agent_prompts (organization_id, id, agent_id, version, prompt, created_at)
    select organization_id, gen_random_uuid(), agent_id, 2, 'Be strict.', now() from agent_prompts where version = 1`);
  await expect(setShadow(t.deps, t.caller, id, {})).rejects.toMatchObject({ status: 400 });
  await expect(setShadow(t.deps, t.caller, id, { promptVersion: 9 })).rejects.toMatchObject({ status: 400 });
  await setShadow(t.deps, t.caller, id, { promptVersion: 2 });
  await t.runAt(hour(1));
  expect(await getShadow(t.deps, t.caller, id)).toMatchObject({
    shadow: { promptVersion: 2, modelAlias: null },
    compared: 0,
  });
  expect(await reviewNext(t.deps, signal)).toBe(true);
  expect(await getShadow(t.deps, t.caller, id)).toMatchObject({
    compared: 2,
    differing: 1,
    differences: [{ entity: 'bob', differs: ['triggered'], before: { triggered: true }, after: { triggered: false } }],
  });
  expect(await t.select(sql`select count(*) as n from hits`)).toEqual([{ n: 2 }]);
  expect((await endShadow(t.deps, t.caller, id)).shadow).toBeNull();
  await t.runAt(hour(2));
  expect(await reviewNext(t.deps, signal)).toBe(false);
});
