import { Registry } from 'prom-client';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import { hour, startRuns, type RunsTest } from '../../../../test/support/detection/scripted-runs.ts';
import { loadConfig } from '../../../config.ts';
import { createException } from '../../detections/exceptions/exceptions.ts';
import { deleteDetection } from '../../detections/life-cycle.ts';
import { claimRunsAcrossOrgs } from '../../scheduling/claim-runs.store.ts';
import type { RunClaim } from '../../scheduling/run-claim.ts';
import { createClockGuard } from '../../scheduling/clock-guard.ts';
import { enqueueDueRunsAcrossOrgs } from '../../scheduling/enqueue-runs.ts';
import { createRunMetrics } from './run-metrics.ts';
import { createLeaseKeeper } from './execute-place.ts';
import { executeLoop, reapLoop, scheduleLoop } from './run-loops.ts';
import { resolveOverdueCandidatesAcrossOrgs } from '../judging/overdue-candidates.ts';

const testDb = await testDatabase(16);
const config = loadConfig({ TOCSIN_SPREAD_SECONDS: '0', TOCSIN_RUNS_AT_ONCE: '3' });

const waitUntil = (check: () => Promise<boolean>): Promise<void> => expect.poll(check).toBe(true);

const countRuns = async (t: RunsTest, status: string): Promise<number> =>
  (await t.select<{ n: number }>`select count(*) as n from runs where status = ${status}`)[0]!.n;

test('returns runs to the queue when workers stop, and ends each slot once after restarts', async () => {
  const t = await startRuns(testDb, async ({ window }, signal) => {
    await sleep(30, undefined, { signal });
    return [{ _id: window.from.toISOString(), user: 'root' }];
  });
  for (let i = 0; i < 30; i++) await t.newDetection();
  t.time.now = new Date(hour(1));
  const registry = new Registry();
  const deps = { ...t.deps, config, runMetrics: createRunMetrics(registry, t.db) };
  const rounds: AbortController[] = [];
  const work = (): Promise<unknown> => {
    const stop = new AbortController();
    rounds.push(stop);
    const guard = createClockGuard(t.deps.clock);
    return Promise.all([
      scheduleLoop(deps, guard, stop.signal),
      executeLoop(deps, stop.signal),
      executeLoop(deps, stop.signal),
      reapLoop(deps, stop.signal),
    ]);
  };
  for (const enough of [6, 15]) {
    const ended = work();
    await waitUntil(async () => (await countRuns(t, 'completed')) >= enough);
    rounds.at(-1)!.abort();
    await ended;
    expect(await countRuns(t, 'running')).toBe(0);
    expect(await t.select`select 1 from run_queue where state = 'running'`).toEqual([]);
  }
  const last = work();
  await waitUntil(async () => (await countRuns(t, 'completed')) === 30);
  rounds.at(-1)!.abort();
  await last;
  expect(await t.select`select count(*) as n, max(attempt) as attempt, max(hit_count) as hits from runs`).toEqual([
    { n: 30, attempt: 1, hits: 1 },
  ]);
  expect(await t.select`select count(*) as n, max(occurrences) as o from hits`).toEqual([{ n: 30, o: 1 }]);
  const metrics = await registry.metrics();
  expect(metrics).toContain('tocsin_runs_total{trigger="schedule"} 30');
  expect(metrics).toContain('tocsin_run_phase_seconds_count{phase="query"} 30');
});

test('renews leases of running runs and stops runs that are lost or cancelled', async () => {
  const t = await startRuns(testDb, () => []);
  for (let i = 0; i < 3; i++) await t.newDetection();
  await enqueueDueRunsAcrossOrgs(t.db, { now: new Date(hour(1)), spreadMs: 0, limit: 10 });
  const claims = await claimRunsAcrossOrgs(t.db, new Date(hour(1)), 3);
  const leaseKeeper = createLeaseKeeper(t.deps, 50);
  const [kept, lost, cancelled] = claims.map((claim) => leaseKeeper.hold(claim));
  await testDb.query`update run_queue set lease_until = clock_timestamp() + interval '10 s'`;
  await testDb.query`update run_queue set worker = 'another' where run_id = ${claims[1]!.runId}`;
  await testDb.query`update run_queue set cancel_requested = true where run_id = ${claims[2]!.runId}`;
  await waitUntil(async () => lost!.signal.aborted && cancelled!.signal.aborted);
  expect([lost!.signal.reason, cancelled!.signal.reason, kept!.signal.aborted]).toEqual(['lost', 'cancelled', false]);
  expect(
    await t.select`select run_id from run_queue where lease_until > clock_timestamp() + interval '30 s' order by run_id = ${claims[0]!.runId} desc`,
  ).toMatchObject([{ run_id: claims[0]!.runId }, { run_id: claims[2]!.runId }]);
  // The run belongs to this worker again, but a lost lease stays lost.
  await testDb.query`
    update run_queue set worker = ${claims[1]!.worker}, lease_until = clock_timestamp() + interval '20 s' where run_id = ${claims[1]!.runId}`;
  const findLeaseEnd = async (claim: RunClaim) =>
    (await t.select<{ at: Date }>`select lease_until as at from run_queue where run_id = ${claim.runId}`)[0]!.at;
  const [keptUntil, lostUntil] = [await findLeaseEnd(claims[0]!), await findLeaseEnd(claims[1]!)];
  await waitUntil(async () => (await findLeaseEnd(claims[0]!)) > keptUntil);
  expect(await findLeaseEnd(claims[1]!)).toEqual(lostUntil);
  leaseKeeper.stopAll('shutdown');
  expect(kept!.signal.reason).toBe('shutdown');
  leaseKeeper.end();
});

test('turns candidates of a deleted detection into hits after a day, except those under an exception', async () => {
  const users = Array.from({ length: 120 }, (_, i) => ({ _id: `e${i}`, user: `user${i}`, action: 'login' }));
  const t = await startRuns(testDb, () => users);
  const id = await t.newDetection();
  await t.tryAt(hour(1), { model: 'm', instant: false, judge: () => Promise.reject(new Error('the model is gone')) });
  const [excepted] = await t.select<{
    entity: string;
  }>`select entity from candidates where state = 'pending' order by entity limit 1`;
  await createException(t.deps, t.caller, id, { entity: excepted!.entity, reason: 'known' });
  await deleteDetection(t.deps, t.caller, id);
  t.time.now = new Date(hour(24));
  expect(await resolveOverdueCandidatesAcrossOrgs(t.deps)).toBe(false);
  t.time.now = new Date('2026-03-03T01:00:01Z');
  for (let batch = 1; batch <= 3; batch++) expect(await resolveOverdueCandidatesAcrossOrgs(t.deps)).toBe(true);
  expect(await resolveOverdueCandidatesAcrossOrgs(t.deps)).toBe(false);
  expect(
    await t.select`select judged, count(*) as n, max(occurrences) as o from hits group by judged order by judged`,
  ).toEqual([{ judged: false, n: 119, o: 1 }]);
  expect(await t.select`select state, entity from candidates where hit_id is null`).toEqual([
    { state: 'suppressed', entity: excepted!.entity },
  ]);
});
