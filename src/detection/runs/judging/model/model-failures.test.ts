import { expect, test } from 'vitest';
import { testDatabase } from '../../../../../test/support/database.ts';
import { deleteDetection } from '../../../detections/life-cycle.ts';
import { resolveOverdueCandidatesAcrossOrgs } from '../overdue-candidates.ts';
import { checkPausedModels } from '../../../../platform/models/model-pauses.ts';
import { inOrg } from '../../../../platform/db/db.ts';
import { findModelPause } from '../../../../platform/models/model-pauses.store.ts';
import { cancelRun } from '../../request-run.ts';
import {
  listRunRows,
  login,
  readLastFailure,
  retryNow,
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
