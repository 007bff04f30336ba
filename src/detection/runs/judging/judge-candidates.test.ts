import { expect, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import {
  countCandidates,
  hour,
  startRuns,
  type RunsTest,
  type ScriptedSearch,
} from '../../../../test/support/detection/scripted-runs.ts';
import { detectionTexts } from '../../../../test/support/detection/analysis-examples.ts';
import { createAnalystVerdict } from '../../verdicts/analyst/analyst.ts';
import type { QueryRow } from '../../siem/connector.ts';
import type { Judge } from './judge.ts';
import { requestRun } from '../requests/request-run.ts';

const testDb = await testDatabase();
const users = (n: number, at = 'x'): QueryRow[] =>
  Array.from({ length: n }, (_, i) => ({
    _id: `${at}-${i}`,
    user: `user${String(i).padStart(4, '0')}`,
    action: 'login',
  }));

/** A judge that is not instant, so each verdict is stored immediately. */
function slowJudge(limit = Infinity): Judge & { asked: string[] } {
  const asked: string[] = [];
  return {
    model: 'scripted',
    instant: false,
    asked,
    judge: async (candidate) => {
      if (asked.length >= limit) throw new Error('the model is gone');
      asked.push(candidate.entity);
      return { ...createAnalystVerdict(candidate, detectionTexts), confidence: 42 };
    },
  };
}

const loginOfRoot: ScriptedSearch = ({ window }) => [{ _id: window.from.toISOString(), user: 'root', action: 'login' }];
const hitsOf = (t: RunsTest) =>
  t.select<{ entity: string; occurrences: number; judged: boolean; confidence: number; last_seen_at: Date }>`
    select entity, occurrences, judged, confidence, last_seen_at from hits order by entity, created_at, id`;

test('reuses the verdicts of an earlier attempt', async () => {
  const t = await startRuns(testDb, () => users(5));
  await t.newDetection();
  const dying = slowJudge(3);
  await t.tryAt(hour(1), dying);
  expect(await countCandidates(t)).toEqual({ judged: 3, pending: 2 });
  expect(await t.select`select count(*) as n from candidates where verdict is not null`).toEqual([{ n: 3 }]);
  await t.select`update run_queue set retry_at = null`;
  const second = slowJudge();
  await t.runAt(hour(1), second);
  expect([...dying.asked, ...second.asked]).toEqual(users(5).map((row) => row['user']));
  expect((await hitsOf(t)).map((hit) => [hit.occurrences, hit.judged, hit.confidence])).toEqual(
    Array.from({ length: 5 }, () => [1, true, 42]),
  );
  const [run] = await t.select<{
    attempt: number;
    hit_count: number;
    entities: string;
  }>`select attempt, hit_count, entities from runs`;
  expect(run).toMatchObject({ attempt: 2, hit_count: 5 });
  expect(JSON.parse(run!.entities)).toHaveLength(5);
});

test('judges at most 100 candidates of a window per run, and the rest first in the next runs', async () => {
  const t = await startRuns(testDb, ({ window }) => (window.from.toISOString() === hour(0) ? users(230) : []));
  await t.newDetection();
  await t.runAt(hour(1));
  expect(await countCandidates(t)).toEqual({ judged: 100, pending: 130 });
  await t.runAt(hour(2));
  await t.runAt(hour(3));
  expect(await countCandidates(t)).toEqual({ judged: 230 });
  expect(await t.select`select hit_count, triggered from runs order by due_at`).toEqual([
    { hit_count: 100, triggered: true },
    { hit_count: 100, triggered: true },
    { hit_count: 30, triggered: true },
  ]);
  expect(await t.select`select runs, triggered from run_days where runs > 0`).toHaveLength(2);
});

test('turns every candidate into a hit from its facts after a day without a verdict', async () => {
  const t = await startRuns(testDb, ({ window }) => (window.from.toISOString() === hour(0) ? users(130) : []));
  await t.newDetection();
  await t.tryAt(hour(1), slowJudge(0));
  expect(await hitsOf(t)).toEqual([]);
  await t.select`update run_queue set retry_at = null`;
  await t.runAt(hour(26), slowJudge(0));
  const hits = await hitsOf(t);
  expect(hits).toHaveLength(130);
  expect(hits.every((hit) => !hit.judged)).toBe(true);
});

test('adds occurrences to the open hit of a known positive, and judges again once it is too old or suppression is off', async () => {
  const t = await startRuns(testDb, loginOfRoot);
  await t.newDetection({ suppressionMinutes: 180 });
  const judge = slowJudge();
  for (const n of [1, 2, 3, 4, 5]) await t.runAt(hour(n), judge);
  expect(judge.asked).toHaveLength(2);
  expect((await hitsOf(t)).map((hit) => [hit.occurrences, hit.last_seen_at.toISOString()])).toEqual([
    [3, hour(3)],
    [2, hour(5)],
  ]);
  expect(await t.select`select distinct triggered, hit_count from runs`).toEqual([{ triggered: true, hit_count: 1 }]);
  await t.select`update hits set status = 'false_positive'`;
  await t.runAt(hour(6), judge);
  expect(judge.asked).toHaveLength(3);

  const off = await startRuns(testDb, loginOfRoot);
  await off.newDetection({ suppressionMinutes: 0 });
  for (const n of [1, 2]) await off.runAt(hour(n));
  expect(await hitsOf(off)).toHaveLength(2);
});

test('suppresses several windows of one claim like those of several runs', async () => {
  const one = await startRuns(testDb, loginOfRoot);
  await one.newDetection();
  for (const n of [1, 2, 3, 4, 5, 6, 7, 8]) await one.runAt(hour(n));
  const listSeen = async (t: RunsTest) =>
    (await hitsOf(t)).map(({ entity, occurrences, last_seen_at: at }) => [entity, occurrences, at.toISOString()]);
  const hits = await listSeen(one);
  const other = await startRuns(testDb, loginOfRoot);
  await other.newDetection();
  await other.runAt(hour(8));
  expect(await listSeen(other)).toEqual(hits);
  expect(hits).toEqual([
    ['root', 6, hour(6)],
    ['root', 2, hour(8)],
  ]);
});

test('suppresses candidates after a negative verdict until their facts are stronger', async () => {
  let rows = 3;
  const t = await startRuns(testDb, ({ window }) =>
    Array.from({ length: rows }, (_, i) => ({
      _id: `${window.from.toISOString()}-${i}`,
      user: 'ann',
      action: 'login',
    })),
  );
  await t.newDetection({ suppressionMinutes: 1440 });
  const asked: number[] = [];
  const judge: Judge = {
    model: 'scripted',
    instant: false,
    judge: async (candidate) => {
      asked.push(candidate.rows.length);
      return { ...createAnalystVerdict(candidate, detectionTexts), triggered: false };
    },
  };
  await t.runAt(hour(1), judge);
  rows = 6;
  await t.runAt(hour(2), judge);
  expect(asked).toEqual([3]);
  expect(await countCandidates(t)).toEqual({ judged: 1, suppressed: 1 });
  rows = 7;
  await t.runAt(hour(3), judge);
  expect(asked).toEqual([3, 7]);
  expect(await hitsOf(t)).toEqual([]);
  expect(await t.select`select distinct triggered from runs`).toEqual([{ triggered: false }]);
});

test('does not judge the candidates of another active run', async () => {
  const t = await startRuns(testDb, ({ window }) => users(2, window.clock));
  const id = await t.newDetection({ suppressionMinutes: 0 });
  t.time.now = new Date(hour(0));
  const { runId } = await requestRun(t.deps, t.caller, id, { from: hour(-3), to: hour(-2) });
  await t.tryAt(hour(0), slowJudge(0));
  await t.select`update run_queue set retry_at = 'infinity'`;
  expect(await countCandidates(t)).toEqual({ pending: 2 });
  await t.tryAt(hour(1), slowJudge());
  expect(await countCandidates(t)).toEqual({ judged: 2, pending: 2 });
  await t.select`update run_queue set retry_at = null`;
  await t.runAt(hour(1), slowJudge());
  const [run] = await t.select<{ hit_count: number }>`select hit_count from runs where id = ${runId}`;
  expect(run?.hit_count).toBe(2);
});
