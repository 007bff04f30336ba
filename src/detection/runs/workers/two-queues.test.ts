import { expect, test } from 'vitest';
import { testDatabase, newOrgId } from '../../../../test/support/database.ts';
import { listRunRows, login, startJudgedRuns, verdictOn } from '../../../../test/support/detection/judged-runs.ts';
import {
  countCandidates,
  hour,
  newDetectionInput,
  startRuns,
  type RunsTest,
} from '../../../../test/support/detection/scripted-runs.ts';
import { startModelStandIn, type ModelBrain } from '../../../../test/support/models/model-stand-in.ts';
import { createScriptedModels } from '../../../../test/support/models/scripted-models.ts';
import { selectIn } from '../../../../test/support/select-rows.ts';
import { openDb } from '../../../platform/db/db.ts';
import { operatorOf } from '../../../platform/http/caller.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { createDetection } from '../../detections/create-detection.ts';
import { updateDetection } from '../../detections/update-detection.ts';
import { claimJudgingAcrossOrgs, claimRunsAcrossOrgs } from '../../scheduling/claim-runs.store.ts';
import { enqueueDueRunsAcrossOrgs } from '../../scheduling/enqueue-runs.ts';
import { SiemError } from '../../siem/connector.ts';
import { executeRun } from '../execution/execute-run.ts';
import { cancelRun } from '../request-run.ts';
import { getRun } from '../read-runs.ts';
import { reapRuns } from './execute-place.ts';
import { executeLoop, judgeLoop } from './run-loops.ts';

const testDb = await testDatabase(16);
const never = new AbortController().signal;
const answer: ModelBrain = (request) => verdictOn(request);

/** A model that does not respond before `respond` is called. */
function createHangingBrain() {
  const { promise, resolve: respond } = Promise.withResolvers<void>();
  const brain: ModelBrain = async (request) => {
    await promise;
    return verdictOn(request);
  };
  return { brain, respond };
}

const enqueue = (t: RunsTest, at: string) => {
  t.time.now = new Date(at);
  return enqueueDueRunsAcrossOrgs(t.db, { now: t.time.now, spreadMs: 0, limit: 1000 });
};

/** Runs the loops of both queues like one process that examines one run at a time. */
function startLoops(t: RunsTest, deps = t.deps) {
  const stop = new AbortController();
  const work = { ...deps, config: { runsAtOnce: 1 } };
  const ended = Promise.all([executeLoop(work, stop.signal), judgeLoop(work, stop.signal)]);
  return { stop: () => (stop.abort(), ended) };
}

const countRuns = (orgId: OrgId) => selectIn(testDb.db, orgId)<{ alias: string; status: string; n: number }>`
  select a.model_alias as alias, r.status, count(*) as n from runs r join agents a on a.organization_id = r.organization_id and a.id = r.detection_id
  group by 1, 2 order by 1, 2`;

test('50 runs whose model hangs delay neither another organization nor the other runs of their own', async () => {
  const { brain, respond } = createHangingBrain();
  const [slow, quick] = [await startModelStandIn('anthropic', brain), await startModelStandIn('anthropic', answer)];
  const t = await startRuns(testDb, () => [login('root')]);
  t.deps.models = createScriptedModels({ slow: slow.url, quick: quick.url });
  const other = await newOrgId(t.db);
  for (let n = 0; n < 50; n += 1) await t.newDetection({ modelAlias: 'slow' });
  for (const orgId of [t.orgId, other])
    for (const modelAlias of ['quick', 'analyst'])
      await createDetection(t.deps, operatorOf(orgId), { ...newDetectionInput, modelAlias });
  await enqueue(t, hour(1));
  const loops = startLoops(t);
  const others = ['analyst', 'quick'].map((alias) => ({ alias, status: 'completed', n: 1 }));
  await expect.poll(() => countRuns(other)).toEqual(others);
  await expect.poll(() => countRuns(t.orgId)).toEqual([...others, { alias: 'slow', status: 'running', n: 50 }]);
  // The hanging runs hold no place of those that have to be examined, and one place of their alias is left.
  const listPlaces = () =>
    testDb.query`select phase, state, count(*)::int as n from run_queue group by 1, 2 order by 2`;
  const held = [
    { phase: 'judge', state: 'queued', n: 43 },
    { phase: 'judge', state: 'running', n: 7 },
  ];
  await expect.poll(listPlaces).toEqual(held);
  const [waiting] = await t.select<{ id: string }>`select run_id as id from run_queue where state = 'queued' limit 1`;
  expect(await getRun(t.deps, t.caller, waiting!.id)).toMatchObject({ status: 'running', phase: 'judging' });
  // The next slot of the same detections is examined while the model hangs.
  await enqueue(t, hour(2));
  await expect
    .poll(() => t.select`select count(*) as n from coverage where covered_to = ${hour(2)}`)
    .toEqual([{ n: 52 }]);
  respond();
  await expect.poll(() => t.select`select 1 from run_queue`).toEqual([]);
  expect(await countRuns(t.orgId)).toEqual([
    { alias: 'analyst', status: 'completed', n: 2 },
    { alias: 'quick', status: 'completed', n: 2 },
    { alias: 'slow', status: 'completed', n: 100 },
  ]);
  expect(await t.select`select distinct occurrences, judged from hits where judged`).toEqual([
    { occurrences: 2, judged: true },
  ]);
  await loops.stop();
});

test('two processes together do not exceed the limit of an alias, and return their runs when they stop', async () => {
  const { brain, respond } = createHangingBrain();
  const stand = await startModelStandIn('anthropic', brain);
  const t = await startRuns(testDb, () => [login('root')]);
  t.deps.models = createScriptedModels({ m: stand.url }, { runsAtOnce: 2 });
  const db = openDb(testDb.url, 4);
  for (let n = 0; n < 6; n += 1) await t.newDetection({ modelAlias: 'm' });
  await enqueue(t, hour(1));
  const processes = [startLoops(t), startLoops(t, { ...t.deps, db })];
  await expect.poll(() => stand.asked.length).toBe(2);
  const countPlaces = () =>
    t.select`select count(*) as n, count(*) filter (where state = 'running') as running from run_queue`;
  await expect.poll(countPlaces).toEqual([{ n: 6, running: 2 }]);
  await Promise.all(processes.map(({ stop }) => stop()));
  expect(await countPlaces()).toEqual([{ n: 6, running: 0 }]);
  expect(await t.select`select distinct phase, attempt, retries, lost from run_queue`).toEqual([
    { phase: 'judge', attempt: 0, retries: 0, lost: 0 },
  ]);
  respond();
  await t.runAt(hour(1));
  expect(await t.select`select status, count(*) as n, max(attempt) as attempt from runs group by 1`).toEqual([
    { status: 'completed', n: 6, attempt: 1 },
  ]);
  await db.destroy();
});

/** Examines the due run and returns it while it waits to be judged. */
async function examineOne(t: RunsTest, at = hour(1)) {
  await enqueue(t, at);
  const [claim] = await claimRunsAcrossOrgs(t.db, t.time.now, 1);
  expect((await executeRun(t.deps, claim!, never)).result).toBe('requeued');
  return claim!;
}
const claimToJudge = async (t: RunsTest) => (await claimJudgingAcrossOrgs(t.db, t.time.now, 1, { m: 8 }))[0];

test('cancels a run that waits to be judged with its hits so far, and lets the next run judge the rest', async () => {
  const { t, stand } = await startJudgedRuns(
    testDb,
    (request, nth) => (nth === 2 ? { status: 529 } : verdictOn(request)),
    {
      answer: ({ window }) => (window.from.toISOString() === hour(0) ? [login('bob'), login('root')] : []),
    },
  );
  await t.tryAt(hour(1));
  const [run] = await listRunRows(t);
  expect(await getRun(t.deps, t.caller, run!.id)).toMatchObject({ status: 'running', phase: 'judging', attempt: 1 });
  const cancelled = await cancelRun(t.deps, t.caller, run!.id);
  expect(cancelled).toMatchObject({ status: 'cancelled', statusReason: 'requested', phase: null, hitCount: 1 });
  await t.runAt(hour(2));
  expect(stand.asked).toHaveLength(3);
  expect(await countCandidates(t)).toEqual({ judged: 2 });
  expect((await listRunRows(t)).map(({ status }) => status)).toEqual(['cancelled', 'completed']);
});

test('judges what a detection found although it was disabled meanwhile, under the definition that found it', async () => {
  const { t, id } = await startJudgedRuns(testDb, answer);
  await examineOne(t);
  await updateDetection(t.deps, t.caller, { id, input: { modelAlias: 'analyst' } });
  await t.setEnabled(id, false);
  await t.runAt(hour(1));
  expect(await listRunRows(t)).toMatchObject([{ status: 'completed', model_alias: 'm', hit_count: 2, tokens: 480 }]);
});

test('completes the next run that finds nothing while candidates of the former one wait for the model', async () => {
  const { t } = await startJudgedRuns(testDb, answer);
  await examineOne(t);
  await enqueue(t, hour(2));
  const [claim] = await claimRunsAcrossOrgs(t.db, t.time.now, 1);
  expect((await executeRun(t.deps, claim!, never)).result).toBe('finished');
  expect((await listRunRows(t)).map(({ status, hit_count }) => [status, hit_count])).toEqual([
    ['running', 0],
    ['completed', 0],
  ]);
  await t.runAt(hour(2));
  expect((await listRunRows(t)).map(({ status, hit_count }) => [status, hit_count])).toEqual([
    ['completed', 2],
    ['completed', 0],
  ]);
});

test('judges what the examined windows hold if the examination fails, then fails the run', async () => {
  const failure = { kind: 'query_error', blame: 'author', retryable: false, message: 'no such column' } as const;
  const { t } = await startJudgedRuns(testDb, answer, {
    answer: ({ window }) => {
      if (window.from.toISOString() === hour(1)) throw new SiemError(failure);
      return [login('root')];
    },
  });
  await t.runAt(hour(2));
  expect((await listRunRows(t)).at(-1)).toMatchObject({
    status: 'failed',
    hit_count: 1,
    failure: JSON.stringify(failure),
  });
  expect(await countCandidates(t)).toEqual({ judged: 1 });
  expect(await t.select`select author_failures from schedules`).toEqual([{ author_failures: 1 }]);
});

test('fails a run whose worker is lost three times while it is judged, without a gap, and lets the next run judge it', async () => {
  const { t } = await startJudgedRuns(testDb, answer);
  const examined = await examineOne(t);
  for (const lost of [1, 2, 3]) {
    expect(await claimToJudge(t)).toMatchObject({ runId: examined.runId, attempt: lost });
    await testDb.query`update run_queue set lease_until = clock_timestamp() - interval '1 s'`;
    expect(await reapRuns(t.deps)).toBe(true);
    if (lost < 3) expect((await listRunRows(t))[0]).toMatchObject({ status: 'running' });
  }
  expect((await listRunRows(t))[0]).toMatchObject({ status: 'failed' });
  expect(await t.select`select 1 from gaps`).toEqual([]);
  await t.runAt(hour(2));
  expect((await listRunRows(t)).at(-1)).toMatchObject({ status: 'completed', hit_count: 2 });
});

test('refuses writes of a worker that lost a run in one phase after the run moved on to the other', async () => {
  const { t } = await startJudgedRuns(testDb, answer);
  const examined = await examineOne(t);
  expect((await executeRun(t.deps, examined, never)).result).toBe('lost');
  const judging = (await claimToJudge(t))!;
  expect((await executeRun(t.deps, examined, never)).result).toBe('lost');
  expect((await executeRun(t.deps, judging, never)).result).toBe('finished');
  expect(await t.select`select occurrences, judged from hits`).toEqual([
    { occurrences: 1, judged: true },
    { occurrences: 1, judged: true },
  ]);
});
