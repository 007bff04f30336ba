import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import { startRuns } from '../../../../test/support/detection/scripted-runs.ts';
import { inOrg } from '../../../platform/db/db.ts';
import { insertBuiltInAgents } from '../../detections/built-in-agents.ts';
import { recountDaysAcrossOrgs, recountLoop } from './recount-days.ts';
import { createRunMetrics } from './run-metrics.ts';

const testDb = await testDatabase();

test('corrects wrong days from the runs and leaves correct days, today and built-in agents unchanged', async () => {
  const t = await startRuns(testDb, ({ window }) => [{ _id: window.from.toISOString(), user: 'root' }]);
  const id = await t.newDetection({ detectionCadence: 'daily' });
  for (const at of ['03', '04', '05']) await t.runAt(`2026-03-${at}T01:00:00Z`);
  const listDays = () =>
    t.select`select day, runs, triggered, score_sum, scores from run_days order by day, score_basis`;
  const correct = await listDays();
  expect(correct).toMatchObject(['03', '04', '05'].map((day) => ({ day: `2026-03-${day}`, runs: 1, triggered: 1 })));
  const recount = () => recountDaysAcrossOrgs(t.db, t.time.now);
  expect(await recount()).toEqual([]);
  await t.select`delete from run_days where day = '2026-03-03'`;
  await t.select`update run_days set runs = runs + 2, triggered = 7, score_sum = score_sum - 3 where day = '2026-03-04'`;
  const corrections = await recount();
  expect(new Set(corrections.map(({ day }) => day))).toEqual(new Set(['2026-03-03', '2026-03-04']));
  expect(corrections[0]).toMatchObject({ orgId: t.orgId, detectionId: id });
  expect(await listDays()).toEqual(correct);
  expect(await recount()).toEqual([]);
  await t.select`update run_days set runs = runs + 1 where day = '2026-03-05'`;
  await inOrg(t.db, t.orgId, (tx) => insertBuiltInAgents(tx, t.orgId, t.time.now));
  const counted = await t.select`insert into run_days (organization_id, detection_id, day, runs)
    select organization_id, id, '2026-03-03', 5 from agents where is_built_in returning 1`;
  expect(counted.length).toBeGreaterThan(0);
  expect(await recount()).toEqual([]);
  t.time.now = new Date('2026-03-06T01:00:00Z');
  expect(await recount()).toMatchObject([{ detectionId: id, day: '2026-03-05' }]);
});

test('corrects a day once when several recounts run at the same time', async () => {
  const t = await startRuns(testDb, () => []);
  await t.newDetection();
  await t.runAt('2026-03-02T01:00:00Z');
  await t.select`update run_days set runs = runs + 3`;
  t.time.now = new Date('2026-03-03T01:00:00Z');
  const found = await Promise.all([1, 2, 3].map(() => recountDaysAcrossOrgs(t.db, t.time.now)));
  expect(found.flat()).toHaveLength(1);
  expect(await t.select`select runs from run_days`).toEqual([{ runs: 1 }]);
});

test('counts corrections of the nightly recount in the metrics', async () => {
  const t = await startRuns(testDb, () => []);
  await t.newDetection();
  await t.runAt('2026-03-02T01:00:00Z');
  await t.select`update run_days set runs = runs + 3`;
  t.time.now = new Date('2026-03-03T01:20:00Z');
  const [registry, stop] = [new Registry(), new AbortController()];
  const runMetrics = createRunMetrics(registry, t.db);
  const ended = recountLoop({ ...t.deps, runMetrics }, stop.signal);
  expect(await registry.metrics()).toContain('tocsin_recount_corrections_total 0');
  await expect.poll(() => registry.metrics()).toContain('tocsin_recount_corrections_total 1');
  stop.abort();
  await ended;
});
