import { expect, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import type { ModelBrain } from '../../../../test/support/models/model-stand-in.ts';
import type { CreateDetection } from '../../detections/record/detection-input.schema.ts';
import { extendListening } from '../../../platform/notifications/stream/events.store.ts';
import { getRun } from '../read-runs.ts';
import { getAgreement, endShadow, getShadow, setShadow } from './shadow.ts';
import { replayRun } from './replay-run.ts';
import { reviewNext } from './review-runs.ts';
import {
  dismissalOn,
  listRunRows,
  runbook,
  startJudgedRuns,
  verdictOn,
} from '../../../../test/support/detection/judged-runs.ts';
import { hour } from '../../../../test/support/detection/scripted-runs.ts';

const testDb = await testDatabase();
const signal = new AbortController().signal;
const proven = { detection: { contextDocs: [runbook] } };

test('replays under another prompt, another model or the analyst, and stores only the cost', async () => {
  const { t, stand } = await startJudgedRuns(
    testDb,
    (asked) => (asked.system.includes('Be strict') ? dismissalOn(asked) : verdictOn(asked)),
    proven,
  );
  await t.runAt(hour(1));
  const [run] = await listRunRows(t);
  await t.select`insert into agent_prompts (organization_id, id, agent_id, version, prompt, created_at)
    select organization_id, gen_random_uuid(), agent_id, 2, 'Be strict.', now() from agent_prompts where version = 1`;
  const strict = await replayRun(t.deps, t.caller, run!.id, { promptVersion: 2, limit: 10 });
  expect(strict).toMatchObject({ promptVersion: 2, modelAlias: 'm', tokens: 720, candidates: 2 });
  expect(
    strict.compared.map(({ entity, before, after, differs }) => [entity, before?.triggered, after?.triggered, differs]),
  ).toEqual([
    ['bob', true, false, ['triggered', 'verdict', 'severity', 'confidence', 'evidence']],
    ['root', true, false, ['triggered', 'verdict', 'severity', 'confidence', 'evidence']],
  ]);
  const asked = stand.asked.length;
  const plain = await replayRun(t.deps, t.caller, run!.id, { modelAlias: 'analyst', limit: 1 });
  expect(plain).toMatchObject({
    model: 'analyst',
    tokens: 0,
    compared: [{ entity: 'bob', after: { triggered: true } }],
  });
  expect(stand.asked).toHaveLength(asked);
  expect((await listRunRows(t))[0]).toMatchObject({ tokens: 480, hit_count: 2 });
  expect(await t.select`select tokens from model_usage`).toEqual([{ tokens: 1200 }]);
  await expect(replayRun(t.deps, t.caller, run!.id, { promptVersion: 9, limit: 1 })).rejects.toMatchObject({
    status: 400,
  });
});

const named = 'Every verdict names the owner.';
const criteria: CreateDetection['acceptanceCriteria'] = [named, { check: 'decided' }, { check: 'cites_observation' }];
const gradeAs = (met: boolean) => ({
  calls: [{ name: 'grade', input: { grades: [{ criterion: 1, reason: 'No claim names an owner.', met }] } }],
});
const graded = { detection: { acceptanceCriteria: criteria } };

test('grades the acceptance criteria after delivery, retries after an outage, and notifies about those that are not met', async () => {
  let isOut = true;
  const judge: ModelBrain = () => (isOut ? { status: 503 } : gradeAs(false));
  const { t, id, judgeStand, stand } = await startJudgedRuns(testDb, (asked) => verdictOn(asked), { ...graded, judge });
  await extendListening(t.deps.db, t.caller.orgId);
  await t.runAt(hour(1));
  expect(stand.asked[0]!.system).toContain('Every verdict cites the result of a tool.');
  expect((await listRunRows(t))[0]).toMatchObject({
    status: 'completed',
    hit_count: 2,
    score: null,
    score_basis: null,
  });
  await reviewNext(t.deps, signal);
  expect((await listRunRows(t))[0]).toMatchObject({ score: null });
  expect(await t.select`select score_basis, runs, scores from run_days`).toEqual([
    { score_basis: '', runs: 1, scores: 0 },
  ]);
  expect(await reviewNext(t.deps, signal)).toBe(false);
  isOut = false;
  await t.select`update run_reviews set retry_at = now()`;
  expect(await reviewNext(t.deps, signal)).toBe(true);
  // Claims 30 of 30, acceptance 6.7 of 20, economy 5 of 5, format 10 of 10.
  const [run] = await listRunRows(t);
  expect(run).toMatchObject({ score: 79.5, score_basis: 'judge', tokens: 600 });
  const record = await getRun(t.deps, t.caller, run!.id);
  expect(record.acceptance).toEqual([
    { criterion: named, gradedBy: 'judge', isMet: false, reason: 'No claim names an owner.' },
    { criterion: 'No verdict is undecided.', gradedBy: 'code', isMet: true, reason: 'It holds for 2 of 2.' },
    {
      criterion: 'Every verdict cites the result of a tool.',
      gradedBy: 'code',
      isMet: false,
      reason: 'It fails for 2 of 2: bob, root.',
    },
  ]);
  expect(await t.select`select score_basis, runs, triggered, scores, score_sum from run_days where runs > 0`).toEqual([
    { score_basis: 'judge', runs: 1, triggered: 1, scores: 1, score_sum: 79.5 },
  ]);
  expect(await t.select`select 1 from run_reviews`).toEqual([]);
  const [event] = await t.select<{ body: string }>`select body from outbox where type = 'run.unaccepted'`;
  expect(event!.body).toContain(`Not met: ${named} No claim names an owner.`);
  expect(judgeStand!.asked.at(-1)!.forced).toBe('grade');
  expect(await getAgreement(t.deps, t.caller, id)).toEqual({ reviewed: 0, agreed: 0, agreement: null });
  await t.select`update hits set status = case entity when 'bob' then 'true_positive' else 'benign' end`;
  expect(await getAgreement(t.deps, t.caller, id)).toEqual({ reviewed: 2, agreed: 1, agreement: 50 });
});

test('the model of the detection grades sentences where there is no judge, and code needs no model', async () => {
  const { t, stand } = await startJudgedRuns(
    testDb,
    (asked) => (asked.forced === 'grade' ? gradeAs(true) : verdictOn(asked)),
    graded,
  );
  await t.runAt(hour(1));
  await reviewNext(t.deps, signal);
  expect((await listRunRows(t))[0]).toMatchObject({ score: 89.7, score_basis: 'judge' });
  const asked = stand.asked.length;
  await t.select`update agent_revisions set definition = replace(definition, ${`"${named}",`}, '')`;
  await t.runAt(hour(25));
  await t.select`update run_reviews set retry_at = now()`;
  await reviewNext(t.deps, signal);
  expect(stand.asked.slice(asked).filter(({ forced }) => forced === 'grade')).toEqual([]);
});

test('counts the cost of grades that are not valid', async () => {
  const { t } = await startJudgedRuns(testDb, (asked) => verdictOn(asked), {
    ...graded,
    judge: () => ({ text: 'Well done.' }),
  });
  await t.runAt(hour(1));
  await reviewNext(t.deps, signal);
  expect((await listRunRows(t))[0]).toMatchObject({ score: null });
  const [usage] = await t.select<{ tokens: number }>`select tokens from model_usage where alias = 'judge'`;
  expect(usage!.tokens).toBeGreaterThan(0);
});

test('lets a shadow judge without delivering hits and lists the differences', async () => {
  const { t, id } = await startJudgedRuns(
    testDb,
    (asked) =>
      asked.system.includes('Be strict') && asked.raw.includes('bob') ? dismissalOn(asked) : verdictOn(asked),
    proven,
  );
  await t.select`insert into agent_prompts (organization_id, id, agent_id, version, prompt, created_at)
    select organization_id, gen_random_uuid(), agent_id, 2, 'Be strict.', now() from agent_prompts where version = 1`;
  await expect(setShadow(t.deps, t.caller, { id }, {})).rejects.toMatchObject({ status: 400 });
  await expect(setShadow(t.deps, t.caller, { id }, { promptVersion: 9 })).rejects.toMatchObject({ status: 400 });
  await setShadow(t.deps, t.caller, { id }, { promptVersion: 2 });
  await t.runAt(hour(1));
  expect(await getShadow(t.deps, t.caller, id)).toMatchObject({
    shadow: { promptVersion: 2, modelAlias: null },
    compared: 0,
  });
  expect(await reviewNext(t.deps, signal)).toBe(true);
  expect(await getShadow(t.deps, t.caller, id)).toMatchObject({
    compared: 2,
    differing: 1,
    differences: [
      {
        entity: 'bob',
        differs: expect.arrayContaining(['triggered', 'verdict']),
        before: { triggered: true },
        after: { triggered: false },
      },
    ],
  });
  expect(await t.select`select count(*) as n from hits`).toEqual([{ n: 2 }]);
  expect((await endShadow(t.deps, t.caller, { id })).shadow).toBeNull();
  await t.runAt(hour(2));
  expect(await reviewNext(t.deps, signal)).toBe(false);
});
