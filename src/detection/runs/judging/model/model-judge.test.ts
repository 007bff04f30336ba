import { expect, test } from 'vitest';
import { testDatabase } from '../../../../../test/support/database.ts';
import { deleteDetection } from '../../../detections/life-cycle.ts';
import { resolveOverdueCandidatesAcrossOrgs } from '../overdue-candidates.ts';
import { checkPausedModels } from '../../../../platform/models/model-pauses.ts';
import { inOrg } from '../../../../platform/db/db.ts';
import { findModelPause } from '../../../../platform/models/model-pauses.store.ts';
import { getSteps } from '../../read-runs.ts';
import { cancelRun, requestRun } from '../../request-run.ts';
import { startModelStandIn, type ModelBrain } from '../../../../../test/support/models/model-stand-in.ts';
import { createScriptedModels } from '../../../../../test/support/models/scripted-models.ts';
import {
  claimOn,
  dismissalOn,
  excuse,
  retryNow,
  readLastFailure,
  runbook,
  login,
  misquoteOn,
  listRunRows,
  startJudgedRuns,
  verdictOn,
} from '../../../../../test/support/detection/judged-runs.ts';
import { countCandidates, hour } from '../../../../../test/support/detection/scripted-runs.ts';

const testDb = await testDatabase();
const signal = new AbortController().signal;
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

test('retries after an outage, keeps stored verdicts and completes the run', async () => {
  const { t, stand } = await startJudgedRuns(testDb, (asked, nth) => (nth === 2 ? { status: 529 } : verdictOn(asked)));
  await t.tryAt(hour(1));
  expect(await t.select`select entity from hits`).toEqual([{ entity: 'bob' }]);
  expect((await listRunRows(t))[0]).toMatchObject({ status: 'running' });
  expect(await readLastFailure(t)).toMatchObject({ kind: 'model_unavailable', blame: 'upstream', retryable: true });
  await retryNow(t);
  await t.runAt(hour(1));
  expect((await listRunRows(t))[0]).toMatchObject({ status: 'completed', attempt: 2, hit_count: 2, tokens: 480 });
  expect(stand.asked).toHaveLength(3);
});

test('pauses the alias with one event after a rejected key, keeps the window examined, and resumes after a check', async () => {
  const { t, stand } = await startJudgedRuns(testDb, () => ({ status: 401 }), {
    answer: ({ window }) => [loginIn(window)],
  });
  await t.select`
    insert into destinations (organization_id, id, kind, name, shown_url, sealed, event_types, created_at, updated_at)
    values (${t.orgId}, gen_random_uuid(), 'webhook', 'x', 'x', '', '{model.paused,model.resumed}', now(), now())`;
  const eventsOf = () =>
    t.select`
      select o.type, o.resource_id, o.body::json #>> '{data,alias}' as alias from outbox o
      join deliveries d on d.event_id = o.id where o.type like 'model.%' order by o.id`;
  await t.runAt(hour(1));
  expect((await listRunRows(t))[0]).toMatchObject({ status: 'failed' });
  expect(await readLastFailure(t)).toMatchObject({ kind: 'model_refused_key', blame: 'upstream', retryable: false });
  expect(await t.select`select covered_to from coverage`).toEqual([{ covered_to: new Date(hour(1)) }]);
  await t.runAt(hour(2));
  // The candidate of the second window joins the hit that the first one raised, so the run needs no verdict.
  expect((await listRunRows(t)).at(-1)).toMatchObject({ status: 'completed', hit_count: 1 });
  expect(stand.asked).toHaveLength(1);
  expect(await eventsOf()).toEqual([{ type: 'model.paused', resource_id: 'm', alias: 'm' }]);
  expect(await t.select`select enabled from agents where is_built_in = false`).toEqual([{ enabled: true }]);
  expect(await checkPausedModels(t.deps, signal)).toBe(0);
  const due = () => t.select`update model_pauses set check_at = now() - interval '1 second'`;
  await due();
  await checkPausedModels(t.deps, signal);
  expect(await inOrg(t.deps.db, t.orgId, (tx) => findModelPause(tx, t.orgId, 'm'))).toMatchObject({
    kind: 'model_refused_key',
  });
  stand.think((asked) => (asked.tools.length === 0 ? { text: 'yes' } : verdictOn(asked)));
  await due();
  await checkPausedModels(t.deps, signal);
  expect(await inOrg(t.deps.db, t.orgId, (tx) => findModelPause(tx, t.orgId, 'm'))).toBeUndefined();
  expect(await eventsOf()).toMatchObject([{ type: 'model.paused' }, { type: 'model.resumed', alias: 'm' }]);
  await t.runAt(hour(3));
  expect((await listRunRows(t)).at(-1)).toMatchObject({ status: 'completed', hit_count: 1 });
  expect(await t.select`select entity, occurrences, judged from hits`).toEqual([
    { entity: 'root', occurrences: 3, judged: true },
  ]);
});

test.each([
  ['a run', { tokensPerRun: 130 }],
  ['a run in dollars', { usdPerRun: 0.003 }],
  ['a detection and day', { tokensPerDetectionDay: 130 }],
  ['an organization and month', { usdPerOrganizationMonth: 0.003 }],
])('raises what the budget of %s does not cover from the facts, and completes the run', async (_name, budgets) => {
  const { t, stand } = await startJudgedRuns(testDb, (asked) => verdictOn(asked), { entry: { budgets } });
  await t.runAt(hour(1));
  expect((await listRunRows(t))[0]).toMatchObject({ status: 'completed', tokens: 240, hit_count: 2 });
  expect(await t.select`select entity, judged, unjudged_reason from hits order by judged desc`).toEqual([
    { entity: 'bob', judged: true, unjudged_reason: null },
    { entity: 'root', judged: false, unjudged_reason: 'budget_exceeded' },
  ]);
  expect(await countCandidates(t)).toEqual({ judged: 1, raised: 1 });
  expect(stand.asked).toHaveLength(1);
});

test('raises the candidates of every window in its slot while the model is unavailable', async () => {
  const { t } = await startJudgedRuns(testDb, () => ({ status: 401 }), {
    detection: { suppressionMinutes: 0 },
    answer: ({ window }) => [loginIn(window)],
  });
  const covered = () => t.select`select covered_from, covered_to from coverage`;
  await t.runAt(hour(1));
  await t.runAt(hour(3));
  expect(await covered()).toEqual([{ covered_from: new Date(hour(0)), covered_to: new Date(hour(3)) }]);
  expect((await listRunRows(t)).at(-1)).toMatchObject({ status: 'failed', hit_count: 2 });
  expect(await readLastFailure(t)).toMatchObject({ kind: 'model_paused' });
  expect(await t.select`select distinct judged, unjudged_reason from hits order by 2`).toEqual([
    { judged: false, unjudged_reason: 'model_paused' },
    { judged: false, unjudged_reason: 'model_refused_key' },
  ]);
  expect(await countCandidates(t)).toEqual({ raised: 3 });
  expect(await t.select`select 1 from gaps`).toEqual([]);
});

test('leaves hits without a verdict that are older than a day as they are', async () => {
  const { t, stand } = await startJudgedRuns(testDb, () => ({ status: 401 }));
  await t.runAt(hour(1));
  await t.select`delete from model_pauses`;
  stand.think((asked) => verdictOn(asked));
  await t.runAt(hour(26));
  expect(stand.asked).toHaveLength(1);
  await resolveOverdueCandidatesAcrossOrgs(t.deps);
  expect(await countCandidates(t)).toEqual({ judged: 2 });
  expect(await t.select`select distinct judged from hits`).toEqual([{ judged: false }]);
});

test('ends a cancelled run at its next step with its results so far', async () => {
  const { t, stand } = await startJudgedRuns(testDb, (asked) => verdictOn(asked));
  stand.think(async (asked, nth) => {
    if (nth === 2) await cancelRun(t.deps, t.caller, (await listRunRows(t))[0]!.id);
    return verdictOn(asked);
  });
  await t.runAt(hour(1));
  expect((await listRunRows(t))[0]).toMatchObject({ status: 'cancelled', hit_count: 1, tokens: 240 });
});

/** Three windows with the same candidate, and a model that does not respond. The candidates wait for the next attempt of the run. */
async function startWaitingRun() {
  const started = await startJudgedRuns(testDb, () => ({ status: 503 }), {
    answer: ({ window }) => (window.from < new Date(hour(3)) ? [loginIn(window)] : []),
  });
  await started.t.tryAt(hour(3));
  expect(await countCandidates(started.t)).toEqual({ pending: 3 });
  return started;
}

test.each(['the next attempt', 'the sweep'])(
  'suppresses candidates raised from facts the same way in %s',
  async (by) => {
    const { t, id, stand } = await startWaitingRun();
    if (by === 'the sweep') {
      await deleteDetection(t.deps, t.caller, id);
      t.time.now = new Date(hour(28));
      expect(await resolveOverdueCandidatesAcrossOrgs(t.deps)).toBe(true);
    } else {
      stand.think(() => ({ status: 401 }));
      await retryNow(t);
      await t.runAt(hour(3));
    }
    // Within six hours the same candidate is an occurrence, not another hit.
    expect(await t.select`select entity, judged, occurrences from hits`).toEqual([
      { entity: 'root', judged: false, occurrences: 3 },
    ]);
    expect(await t.select`select count(*) as n from candidates where state = 'suppressed'`).toEqual([{ n: 2 }]);
  },
);

test('turns overdue candidates into hits even after the retention of their run', async () => {
  const { t, id } = await startWaitingRun();
  await deleteDetection(t.deps, t.caller, id);
  await t.select`delete from runs`;
  t.time.now = new Date(hour(28));
  expect(await resolveOverdueCandidatesAcrossOrgs(t.deps)).toBe(true);
  expect(await t.select`select judged, unjudged_reason, count(*) as n from hits group by 1, 2`).toEqual([
    { judged: false, unjudged_reason: 'not_judged_in_time', n: 3 },
  ]);
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

test('judges the candidates that wait for a verdict when a lost worker is replaced', async () => {
  const { t, stand } = await startJudgedRuns(testDb, (asked) => verdictOn(asked));
  stand.think(async (asked, nth) => {
    if (nth === 2) await testDb.query`update run_queue set worker = 'another', lease_until = now() - interval '1 s'`;
    return verdictOn(asked);
  });
  await t.runAt(hour(1));
  expect((await listRunRows(t))[0]).toMatchObject({ status: 'completed', attempt: 2, hit_count: 2 });
  expect(await t.select`select entity, occurrences, judged from hits order by 1`).toEqual([
    { entity: 'bob', occurrences: 1, judged: true },
    { entity: 'root', occurrences: 1, judged: true },
  ]);
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
