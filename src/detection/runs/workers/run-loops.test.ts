import { sql } from 'kysely';
import { Registry } from 'prom-client';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import { startRuns, type RunsTest } from '../../../../test/support/detection/scripted-runs.ts';
import { loadConfig } from '../../../config.ts';
import { acrossOrgs } from '../../../platform/db/db.ts';
import { createException } from '../../detections/exceptions/exceptions.ts';
import { deleteDetection } from '../../detections/life-cycle.ts';
import { claimRunsAcrossOrgs, type Claim } from '../../scheduling/claim-runs.store.ts';
import { createClockGuard } from '../../scheduling/clock-guard.ts';
import { enqueueDueRunsAcrossOrgs } from '../../scheduling/enqueue-runs.ts';
import { keepLeases } from './keep-leases.ts';
import { executeLoop, reapLoop, scheduleLoop } from './run-loops.ts';
import { settleOverdueAcrossOrgs } from '../judging/overdue-candidates.ts';

const on = await testDatabase(16);
const hour = (n: number): string => new Date(Date.UTC(2026, 2, 2, n)).toISOString();
const config = loadConfig({ TOCSIN_SPREAD_SECONDS: '0', TOCSIN_RUNS_AT_ONCE: '3' });

async function until(check: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 20_000; performance.now() < end; await sleep(25)) if (await check()) return;
  throw new Error('It did not happen in time.');
}

const countOf = async (t: RunsTest, status: string): Promise<number> =>
  (await t.select(sql<{ n: number }>`select count(*) as n from runs where status = ${status}`))[0]!.n;

test('workers that are stopped and started give back what they hold, and each slot ends once', async () => {
  const t = await startRuns(on, async ({ window }, signal) => {
    await sleep(30, undefined, { signal });
    return [{ _id: window.from.toISOString(), user: 'root' }];
  });
  for (let i = 0; i < 30; i++) await t.newDetection();
  t.time.now = new Date(hour(1));
  const registry = new Registry();
  const deps = { ...t.deps, config, metrics: { registry } };
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
    await until(async () => (await countOf(t, 'completed')) >= enough);
    rounds.at(-1)!.abort();
    await ended;
    expect(await countOf(t, 'running')).toBe(0);
    expect(await t.select(sql`select 1 from run_queue where state = 'running'`)).toEqual([]);
  }
  const last = work();
  await until(async () => (await countOf(t, 'completed')) === 30);
  rounds.at(-1)!.abort();
  await last;
  expect(await t.select(sql`select count(*) as n, max(attempt) as attempt, max(hit_count) as hits from runs`)).toEqual([
    { n: 30, attempt: 1, hits: 1 },
  ]);
  expect(await t.select(sql`select count(*) as n, max(occurrences) as o from hits`)).toEqual([{ n: 30, o: 1 }]);
  const metrics = await registry.metrics();
  expect(metrics).toContain('tocsin_runs_total{trigger="schedule"} 30');
  expect(metrics).toContain('tocsin_run_phase_seconds_count{phase="query"} 30');
});

test('leases are renewed while a run goes on; one that is lost or cancelled is told to stop', async () => {
  const t = await startRuns(on, () => []);
  for (let i = 0; i < 3; i++) await t.newDetection();
  await enqueueDueRunsAcrossOrgs(t.db, { now: new Date(hour(1)), spreadMs: 0, limit: 10 });
  const claims = await claimRunsAcrossOrgs(t.db, new Date(hour(1)), 3);
  const leases = keepLeases(t.deps, 50);
  const [kept, lost, cancelled] = claims.map((claim) => leases.hold(claim));
  await acrossOrgs(t.db, async (tx) => {
    await sql`update run_queue set lease_until = clock_timestamp() + interval '1 s'`.execute(tx);
    await sql`update run_queue set worker = 'another' where run_id = ${claims[1]!.runId}`.execute(tx);
    await sql`update run_queue set cancel_requested = true where run_id = ${claims[2]!.runId}`.execute(tx);
  });
  await until(async () => lost!.signal.aborted && cancelled!.signal.aborted);
  expect([lost!.signal.reason, cancelled!.signal.reason, kept!.signal.aborted]).toEqual(['lost', 'cancelled', false]);
  expect(
    await t.select(
      sql`select run_id from run_queue where lease_until > clock_timestamp() + interval '30 s' order by run_id = ${claims[0]!.runId} desc`,
    ),
  ).toMatchObject([{ run_id: claims[0]!.runId }, { run_id: claims[2]!.runId }]);
  // The database knows the run as this worker's again; given up is given up.
  await acrossOrgs(t.db, (tx) =>
    sql`update run_queue set worker = ${claims[1]!.worker}, lease_until = clock_timestamp() + interval '20 s' where run_id = ${claims[1]!.runId}`.execute(
      tx,
    ),
  );
  const endOf = async (claim: Claim) =>
    (await t.select(sql<{ at: Date }>`select lease_until as at from run_queue where run_id = ${claim.runId}`))[0]!.at;
  const [keptUntil, lostUntil] = [await endOf(claims[0]!), await endOf(claims[1]!)];
  await until(async () => (await endOf(claims[0]!)) > keptUntil);
  expect(await endOf(claims[1]!)).toEqual(lostUntil);
  leases.stopAll('shutdown');
  expect(kept!.signal.reason).toBe('shutdown');
  leases.end();
});

test('what waited a day for a verdict becomes a hit though its detection is gone, but for what an exception covers', async () => {
  const users = Array.from({ length: 120 }, (_, i) => ({ _id: `e${i}`, user: `user${i}`, action: 'login' }));
  const t = await startRuns(on, () => users);
  const id = await t.newDetection();
  await t.runAt(hour(1));
  const [excepted] = await t.select(
    sql<{ entity: string }>`select entity from candidates where state = 'pending' order by entity limit 1`,
  );
  await createException(t.deps, t.caller, id, { entity: excepted!.entity, reason: 'known' });
  await deleteDetection(t.deps, t.caller, id);
  t.time.now = new Date(hour(24));
  expect(await settleOverdueAcrossOrgs(t.deps)).toBe(false);
  t.time.now = new Date('2026-03-03T01:00:01Z');
  expect(await settleOverdueAcrossOrgs(t.deps)).toBe(true);
  expect(await settleOverdueAcrossOrgs(t.deps)).toBe(false);
  expect(
    await t.select(sql`select judged, count(*) as n, max(occurrences) as o from hits group by judged order by judged`),
  ).toEqual([
    { judged: false, n: 19, o: 1 },
    { judged: true, n: 100, o: 1 },
  ]);
  expect(await t.select(sql`select state, entity from candidates where hit_id is null`)).toEqual([
    { state: 'suppressed', entity: excepted!.entity },
  ]);
});
