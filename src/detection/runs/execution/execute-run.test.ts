import { expect, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import { getRuns } from '../read-runs.ts';
import { hour, startRuns } from '../../../../test/support/detection/scripted-runs.ts';

const testDb = await testDatabase();
const login = (user: string, id: string, at: string) => ({ _id: id, _time: at, user, action: 'ConsoleLogin' });

test('stores a verdict, a hit with evidence, a score and figures for a slot with rows', async () => {
  const t = await startRuns(testDb, ({ window }) =>
    window.from.toISOString() === hour(0) ? [login('root', 'e1', hour(0))] : [],
  );
  const id = await t.newDetection();
  expect(await t.runAt(hour(1))).toBe(1);
  const [run] = await t.select<Record<string, unknown>>`select * from runs where detection_id = ${id}`;
  expect(run).toMatchObject({
    trigger: 'schedule',
    status: 'completed',
    attempt: 1,
    triggered: true,
    hit_count: 1,
    model: 'analyst',
  });
  expect(JSON.parse(String(run?.['windows']))).toMatchObject([
    { from: hour(0), to: hour(1), rowsTotal: 1, truncated: false },
  ]);
  expect(JSON.parse(String(run?.['entities']))).toMatchObject([{ entity: 'root', triggered: true }]);
  expect(Number(run?.['score'])).toBe(100);
  const [hit] = await t.select<Record<string, unknown>>`select * from hits`;
  expect(hit).toMatchObject({ entity: 'root', status: 'open', occurrences: 1, judged: true });
  expect(JSON.parse(String(hit?.['evidence']))[0]).toMatchObject({
    rowId: 'e1',
    field: 'action',
    value: 'ConsoleLogin',
  });
  expect(await t.select`select covered_from, covered_to from coverage`).toEqual([
    { covered_from: new Date(hour(0)), covered_to: new Date(hour(1)) },
  ]);
  expect(await t.select`select day, runs, triggered, scores from run_days`).toEqual([
    { day: '2026-03-02', runs: 1, triggered: 1, scores: 1 },
  ]);
  expect(await t.select`select 1 from run_queue`).toEqual([]);
});

test('gives no score to a run with rows but nothing to judge', async () => {
  const t = await startRuns(testDb, () => [{ _id: 'a', user: 'root', action: 'login' }]);
  const id = await t.newDetection({ detectionCategory: 'first_occurrence' });
  await t.runAt(hour(1));
  const [run] = (await getRuns(t.deps, t.caller, id, {})).runs;
  expect(run).toMatchObject({ status: 'completed', rowsTotal: 1, score: null, scoreBasis: null, scoreCriteria: [] });
  expect(run!.unscored).toBe('no_candidates');
  expect(await t.select`select runs, scores from run_days`).toEqual([{ runs: 1, scores: 0 }]);
});

test('completes a run without rows, without model calls or a score', async () => {
  const t = await startRuns(testDb, () => []);
  await t.newDetection();
  await t.runAt(hour(1));
  const [run] = await t.select<
    Record<string, unknown>
  >`select status, triggered, score, score_basis, rows_total from runs`;
  expect(run).toEqual({ status: 'completed', triggered: false, score: null, score_basis: null, rows_total: 0 });
});
