import { expect, test } from 'vitest';
import { testDatabase } from '../../../../../test/support/database.ts';
import {
  countCandidates,
  hour,
  startRuns,
  type RunsTest,
  type ScriptedSearch,
} from '../../../../../test/support/detection/scripted-runs.ts';
import { dismissed, judgedAs, listJudgedHits, slowJudge } from '../../../../../test/support/detection/slow-judge.ts';
import type { Judge } from '../judge.ts';

const testDb = await testDatabase();
const loginOfRoot: ScriptedSearch = ({ window }) => [{ _id: window.from.toISOString(), user: 'root', action: 'login' }];

test('adds occurrences to the open hit of a known positive, and judges again once it is too old or suppression is off', async () => {
  const t = await startRuns(testDb, loginOfRoot);
  await t.newDetection({ suppressionMinutes: 180 });
  const judge = slowJudge();
  for (const n of [1, 2, 3, 4, 5]) await t.runAt(hour(n), judge);
  expect(judge.asked).toHaveLength(2);
  expect((await listJudgedHits(t)).map((hit) => [hit.occurrences, hit.last_seen_at.toISOString()])).toEqual([
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
  expect(await listJudgedHits(off)).toHaveLength(2);
});

test('suppresses several windows of one claim like those of several runs', async () => {
  const one = await startRuns(testDb, loginOfRoot);
  await one.newDetection();
  for (const n of [1, 2, 3, 4, 5, 6, 7, 8]) await one.runAt(hour(n));
  const listSeen = async (t: RunsTest) =>
    (await listJudgedHits(t)).map(({ entity, occurrences, last_seen_at: at }) => [
      entity,
      occurrences,
      at.toISOString(),
    ]);
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
      return judgedAs(candidate, dismissed);
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
  expect(await listJudgedHits(t)).toEqual([]);
  expect(await t.select`select distinct triggered from runs`).toEqual([{ triggered: false }]);
});
