import { expect, test } from 'vitest';
import { enqueueRechecksAcrossOrgs } from './backfill-windows.store.ts';
import { testDatabase } from '../../../../test/support/database.ts';
import { hour, startRuns, type RunsTest } from '../../../../test/support/detection/scripted-runs.ts';
import { getDetection } from '../../detections/read-detections.ts';
import { updateDetection } from '../../detections/update-detection.ts';
import { deleteDetection } from '../../detections/life-cycle.ts';
import { claimRunsAcrossOrgs } from '../../scheduling/claim-runs.store.ts';
import type { RunClaim } from '../../scheduling/run-claim.ts';
import { enqueueDueRunsAcrossOrgs } from '../../scheduling/enqueue-runs.ts';
import { SiemError, type SiemFailure } from '../../siem/connector.ts';
import { cancelRun } from '../request-run.ts';
import { executeRun } from './execute-run.ts';
import { reapRuns } from '../workers/execute-place.ts';

const testDb = await testDatabase();
const authors: SiemFailure = { kind: 'query_error', blame: 'author', retryable: false, message: 'no such column' };
const upstream: SiemFailure = {
  kind: 'unavailable',
  blame: 'upstream',
  retryable: true,
  message: 'connection refused',
};

type Shown = { status: string; status_reason: string | null; attempt: number; failure: string | null };
const runsOf = (t: RunsTest) =>
  t.select<Shown>`select status, status_reason, attempt, failure from runs order by due_at`;
const queueOf = (t: RunsTest) =>
  t.select<{ state: string; retries: number; retry_at: Date | null }>`select state, retries, retry_at from run_queue`;

async function claimAt(t: RunsTest, at: string): Promise<RunClaim> {
  t.time.now = new Date(at);
  await enqueueDueRunsAcrossOrgs(t.db, { now: t.time.now, spreadMs: 0, limit: 100 });
  return (await claimRunsAcrossOrgs(t.db, t.time.now, 1))[0]!;
}
const expireLeases = () => testDb.query`update run_queue set lease_until = clock_timestamp() - interval '1 s'`;
const never = new AbortController().signal;

test('disables a detection with a reason after three consecutive failures of its query', async () => {
  const t = await startRuns(testDb, () => Promise.reject(new SiemError(authors)));
  const id = await t.newDetection();
  await t.runAt(hour(1));
  await t.runAt(hour(2));
  expect((await getDetection(t.deps, t.caller, id)).enabled).toBe(true);
  await t.runAt(hour(3));
  const record = await getDetection(t.deps, t.caller, id);
  expect(record).toMatchObject({ enabled: false, runs30d: 3, hits30d: 0, avgEvalScore30d: null });
  expect(record.disabledReason).toContain('query_error: no such column');
  expect(await runsOf(t)).toMatchObject(
    [1, 2, 3].map(() => ({ status: 'failed', attempt: 1, failure: JSON.stringify(authors) })),
  );
  expect(await t.select`select action from audit where action = 'detection.disabled'`).toHaveLength(1);
  expect(await t.runAt(hour(4))).toBe(0);
  await updateDetection(t.deps, t.caller, { id, input: { enabled: true } });
  await t.runAt(hour(5));
  expect((await getDetection(t.deps, t.caller, id)).enabled).toBe(true);
});

test('resets the failure count after a successful slot', async () => {
  const t = await startRuns(testDb, ({ window }) => {
    if (window.from.toISOString() === hour(2)) return [];
    throw new SiemError(authors);
  });
  const id = await t.newDetection({ lookbackMinutes: 120 });
  for (const n of [1, 2]) await t.runAt(hour(n));
  await t.select`delete from pending_windows`;
  for (const n of [3, 4, 5]) await t.runAt(hour(n));
  expect((await getDetection(t.deps, t.caller, id)).enabled).toBe(true);
  await t.runAt(hour(6));
  expect((await getDetection(t.deps, t.caller, id)).enabled).toBe(false);
});

test('retries upstream failures within the slot, then fails and later turns the time into a gap with that reason', async () => {
  let down = true;
  const t = await startRuns(testDb, () => {
    if (down) throw new SiemError(upstream);
    return [];
  });
  const id = await t.newDetection();
  const clock = async () => (await t.select<{ now: Date }>`select clock_timestamp() as now`)[0]!.now.getTime();
  for (const [n, pause] of [5, 15, 45, 135, 300].entries()) {
    const before = await clock();
    await t.tryAt(hour(1));
    expect(await runsOf(t)).toMatchObject([{ status: 'queued', attempt: n + 1, failure: JSON.stringify(upstream) }]);
    const [waiting] = await queueOf(t);
    expect(waiting).toMatchObject({ state: 'queued', retries: n + 1 });
    const failedAt = waiting!.retry_at!.getTime() - pause * 1000;
    expect(failedAt).toBeGreaterThanOrEqual(before);
    expect(failedAt).toBeLessThanOrEqual(await clock());
    await t.select`update run_queue set retry_at = clock_timestamp()`;
  }
  await t.tryAt(hour(1));
  expect(await runsOf(t)).toMatchObject([{ status: 'failed', attempt: 6 }]);
  expect((await getDetection(t.deps, t.caller, id)).enabled).toBe(true);
  down = false;
  await t.runAt(hour(2));
  expect(await t.select`select covered_from, covered_to from coverage`).toEqual([
    { covered_from: new Date(hour(0)), covered_to: new Date(hour(2)) },
  ]);
});

test('turns windows beyond the look-back into a gap with the kind of the failure', async () => {
  const t = await startRuns(testDb, ({ window }) => {
    if (window.from < new Date(hour(2))) throw new SiemError({ ...upstream, retryable: false });
    return [];
  });
  await t.newDetection({ lookbackMinutes: 120 });
  for (const n of [1, 2, 3, 4, 5]) await t.runAt(hour(n));
  expect(await t.select`select gap_from, gap_to, reason from gaps`).toEqual([
    { gap_from: new Date(hour(0)), gap_to: new Date(hour(2)), reason: 'unavailable' },
  ]);
  expect((await runsOf(t)).map((run) => run.status)).toEqual(['failed', 'failed', 'failed', 'failed', 'completed']);
});

test('blames the service for an unexpected error, retries, and reveals nothing internal', async () => {
  const t = await startRuns(testDb, () => Promise.reject(new Error('secret detail')));
  await t.newDetection();
  await t.tryAt(hour(1));
  const [run] = await runsOf(t);
  expect(JSON.parse(run!.failure!)).toMatchObject({ kind: 'internal_error', blame: 'service', retryable: true });
  expect(run!.failure).not.toContain('secret');
});

test('fails a run that is lost three times, turns its window into a gap, keeps later windows pending, and fills the gap later', async () => {
  const t = await startRuns(testDb, () => []);
  await t.newDetection();
  for (const _ of [1, 2, 3]) {
    expect(await claimAt(t, hour(2))).toBeDefined();
    await expireLeases();
    expect(await reapRuns(t.deps)).toBe(true);
  }
  const runs = await runsOf(t);
  expect(runs[1]).toMatchObject({ status: 'failed', status_reason: null });
  expect(JSON.parse(runs[1]!.failure!)).toMatchObject({ kind: 'worker_lost', blame: 'service' });
  expect(await t.select`select gap_from, gap_to, reason from gaps`).toEqual([
    { gap_from: new Date(hour(0)), gap_to: new Date(hour(1)), reason: 'worker_lost' },
  ]);
  expect(await t.select`select window_from from pending_windows`).toEqual([{ window_from: new Date(hour(1)) }]);
  expect(await reapRuns(t.deps)).toBe(false);

  const later = new Date(new Date(hour(2)).getTime() + 15 * 60_000);
  expect(await enqueueRechecksAcrossOrgs(t.deps.db, new Date(later.getTime() - 1))).toBe(0);
  expect(await enqueueRechecksAcrossOrgs(t.deps.db, later)).toBe(1);
  await t.runAt(later.toISOString());
  expect(await t.select`select gap_from, state, fill_at from gaps`).toEqual([
    { gap_from: new Date(hour(0)), state: 'filled', fill_at: null },
  ]);
  expect(await enqueueRechecksAcrossOrgs(t.deps.db, later)).toBe(0);
});

test('refuses writes of a stalled worker that resumes', async () => {
  const t = await startRuns(testDb, async ({ window }) => {
    if (window.from.toISOString() === hour(0)) {
      await expireLeases();
      await reapRuns(t.deps);
    }
    return [{ _id: 'a', user: 'root' }];
  });
  await t.newDetection();
  const claim = await claimAt(t, hour(1));
  expect(await executeRun(t.deps, claim, never)).toEqual({ result: 'lost' });
  expect(
    await t.select`select 1 from coverage union all select 1 from candidates union all select 1 from hits`,
  ).toEqual([]);
  expect(await runsOf(t)).toMatchObject([{ status: 'queued' }]);
});

test('requeues a run uncounted when the process stops, and continues it in the next attempt', async () => {
  const stop = new AbortController();
  const t = await startRuns(testDb, ({ window }, signal) => {
    if (window.from.toISOString() === hour(1) && !stop.signal.aborted) stop.abort('shutdown');
    signal.throwIfAborted();
    return [];
  });
  await t.newDetection();
  const claim = await claimAt(t, hour(3));
  expect(await executeRun(t.deps, claim, stop.signal)).toEqual({ result: 'requeued' });
  expect(await t.select`select covered_to from coverage`).toEqual([{ covered_to: new Date(hour(1)) }]);
  expect((await queueOf(t))[0]).toMatchObject({ state: 'queued', retries: 0 });
  await t.runAt(hour(3));
  const runs = await t.select<{
    status: string;
    attempt: number;
    windows: string;
  }>`select status, attempt, windows from runs order by due_at desc`;
  expect(runs[0]).toMatchObject({ status: 'completed', attempt: 1 });
  expect(JSON.parse(runs[0]!.windows)).toHaveLength(3);
});

test('stops a cancelled running run at its next step, and a queued one immediately', async () => {
  const t = await startRuns(testDb, async () => {
    await cancelRun(t.deps, t.caller, claim.runId);
    return [{ _id: 'a', user: 'root' }];
  });
  await t.newDetection();
  const claim = await claimAt(t, hour(1));
  expect(await executeRun(t.deps, claim, never)).toEqual({ result: 'finished' });
  expect(await runsOf(t)).toMatchObject([{ status: 'cancelled', status_reason: 'requested' }]);
  expect(await t.select`select 1 from hits union all select 1 from run_days union all select 1 from run_queue`).toEqual(
    [],
  );
  expect(await cancelRun(t.deps, t.caller, claim.runId)).toMatchObject({ status: 'cancelled' });
});

test('cancels the queued run of a deleted detection, and ends one with results without delivering them', async () => {
  const t = await startRuns(testDb, async ({ window }) => {
    if (window.from.toISOString() === hour(1)) await deleteDetection(t.deps, t.caller, id);
    return [{ _id: window.from.toISOString(), user: 'root' }];
  });
  await t.select`
    insert into destinations (organization_id, id, kind, name, shown_url, sealed, event_types, created_at, updated_at)
    values (${t.orgId}, gen_random_uuid(), 'webhook', 'x', 'x', '', '{hit.created,hit.updated,run.completed}', now(), now())`;
  const id = await t.newDetection();
  const claim = await claimAt(t, hour(3));
  expect(await executeRun(t.deps, claim, never)).toMatchObject({ result: 'finished', completed: { id: claim.runId } });
  expect((await runsOf(t)).at(-1)).toMatchObject({ status: 'completed' });
  expect(await t.select`select occurrences from hits`).toEqual([{ occurrences: 3 }]);
  expect(await t.select`select type from outbox`).toEqual([{ type: 'hit.created' }]);
  const other = await t.newDetection();
  expect((await enqueueDueRunsAcrossOrgs(t.db, { now: new Date(hour(4)), spreadMs: 0, limit: 10 })).queued).toBe(1);
  await deleteDetection(t.deps, t.caller, other);
  expect((await runsOf(t)).at(-1)).toMatchObject({ status: 'cancelled', status_reason: 'deleted' });
});
