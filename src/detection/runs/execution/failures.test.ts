import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import { startRuns, type RunsTest } from '../../../../test/support/detection/scripted-runs.ts';
import { acrossOrgs } from '../../../platform/db/db.ts';
import { getDetection } from '../../detections/read-detections.ts';
import { updateDetection } from '../../detections/update-detection.ts';
import { deleteDetection } from '../../detections/life-cycle.ts';
import { claimRunsAcrossOrgs, type Claim } from '../../scheduling/claim-runs.store.ts';
import { enqueueDueRunsAcrossOrgs } from '../../scheduling/enqueue-runs.ts';
import { SiemError, type SiemFailure } from '../../siem/connector.ts';
import { cancelRun } from '../requests/cancel-run.ts';
import { executeRun } from './execute-run.ts';
import { reapRuns } from '../workers/reap-runs.ts';

const on = await testDatabase();
const hour = (n: number): string => new Date(Date.UTC(2026, 2, 2, n)).toISOString();
const authors: SiemFailure = { kind: 'query_error', blame: 'author', retryable: false, message: 'no such column' };
const upstream: SiemFailure = {
  kind: 'unavailable',
  blame: 'upstream',
  retryable: true,
  message: 'connection refused',
};

type Shown = { status: string; status_reason: string | null; attempt: number; failure: string | null };
const runsOf = (t: RunsTest) =>
  t.select(sql<Shown>`select status, status_reason, attempt, failure from runs order by due_at`);
const queueOf = (t: RunsTest) =>
  t.select(
    sql<{
      state: string;
      retries: number;
      retry_at: Date | null;
    }>`select state, retries, retry_at from run_queue`,
  );

async function claimAt(t: RunsTest, at: string): Promise<Claim> {
  t.time.now = new Date(at);
  await enqueueDueRunsAcrossOrgs(t.db, { now: t.time.now, spreadMs: 0, limit: 100 });
  return (await claimRunsAcrossOrgs(t.db, t.time.now, 1))[0]!;
}
const never = new AbortController().signal;

test('an author whose query fails in three slots running finds the detection switched off, with the reason', async () => {
  const t = await startRuns(on, () => {
    throw new SiemError(authors);
  });
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
  expect(await t.select(sql`select action from audit where action = 'detection.disabled'`)).toHaveLength(1);
  expect(await t.runAt(hour(4))).toBe(0);
  await updateDetection(t.deps, t.caller, { id, input: { enabled: true } });
  await t.runAt(hour(5));
  expect((await getDetection(t.deps, t.caller, id)).enabled).toBe(true);
});

test('a slot that goes well in between starts the count anew', async () => {
  const t = await startRuns(on, ({ window }) => {
    if (window.from.toISOString() === hour(2)) return [];
    throw new SiemError(authors);
  });
  const id = await t.newDetection({ lookbackMinutes: 120 });
  for (const n of [1, 2]) await t.runAt(hour(n));
  await t.select(sql`delete from pending_windows`);
  for (const n of [3, 4, 5]) await t.runAt(hour(n));
  expect((await getDetection(t.deps, t.caller, id)).enabled).toBe(true);
  await t.runAt(hour(6));
  expect((await getDetection(t.deps, t.caller, id)).enabled).toBe(false);
});

test('trouble upstream is tried again within the slot, then fails; the time stays pending and becomes a gap of that reason', async () => {
  let down = true;
  const t = await startRuns(on, () => {
    if (down) throw new SiemError(upstream);
    return [];
  });
  const id = await t.newDetection();
  const clock = async () => (await t.select(sql<{ now: Date }>`select clock_timestamp() as now`))[0]!.now.getTime();
  for (const [n, pause] of [5, 15, 45, 135, 300].entries()) {
    const before = await clock();
    await t.tryAt(hour(1));
    expect(await runsOf(t)).toMatchObject([{ status: 'queued', attempt: n + 1, failure: JSON.stringify(upstream) }]);
    const [waiting] = await queueOf(t);
    expect(waiting).toMatchObject({ state: 'queued', retries: n + 1 });
    const failedAt = waiting!.retry_at!.getTime() - pause * 1000;
    expect(failedAt).toBeGreaterThanOrEqual(before);
    expect(failedAt).toBeLessThanOrEqual(await clock());
    await t.select(sql`update run_queue set retry_at = clock_timestamp()`);
  }
  await t.tryAt(hour(1));
  expect(await runsOf(t)).toMatchObject([{ status: 'failed', attempt: 6 }]);
  expect((await getDetection(t.deps, t.caller, id)).enabled).toBe(true);
  down = false;
  await t.runAt(hour(2));
  expect(await t.select(sql`select covered_from, covered_to from coverage`)).toEqual([
    { covered_from: new Date(hour(0)), covered_to: new Date(hour(2)) },
  ]);
});

test('what a failure kept from being examined until it was out of reach is a gap of its kind', async () => {
  const t = await startRuns(on, ({ window }) => {
    if (window.from < new Date(hour(2))) throw new SiemError({ ...upstream, retryable: false });
    return [];
  });
  await t.newDetection({ lookbackMinutes: 120 });
  for (const n of [1, 2, 3, 4, 5]) await t.runAt(hour(n));
  expect(await t.select(sql`select gap_from, gap_to, reason from gaps`)).toEqual([
    { gap_from: new Date(hour(0)), gap_to: new Date(hour(2)), reason: 'unavailable' },
  ]);
  expect((await runsOf(t)).map((run) => run.status)).toEqual(['failed', 'failed', 'failed', 'failed', 'completed']);
});

test('an unexpected error is ours, is tried again and tells nothing internal', async () => {
  const t = await startRuns(on, () => {
    throw new Error('secret detail');
  });
  await t.newDetection();
  await t.tryAt(hour(1));
  const [run] = await runsOf(t);
  expect(JSON.parse(run!.failure!)).toMatchObject({ kind: 'internal_error', blame: 'us', retryable: true });
  expect(run!.failure).not.toContain('secret');
});

test('a run lost three times fails, and its window becomes a gap; the windows after it stay to be examined', async () => {
  const t = await startRuns(on, () => []);
  await t.newDetection();
  for (const _ of [1, 2, 3]) {
    expect(await claimAt(t, hour(2))).toBeDefined();
    await acrossOrgs(t.db, (tx) =>
      sql`update run_queue set lease_until = clock_timestamp() - interval '1 s'`.execute(tx),
    );
    expect(await reapRuns(t.deps)).toBe(true);
  }
  const runs = await runsOf(t);
  expect(runs[1]).toMatchObject({ status: 'failed', status_reason: null });
  expect(JSON.parse(runs[1]!.failure!)).toMatchObject({ kind: 'worker_lost', blame: 'us' });
  expect(await t.select(sql`select gap_from, gap_to, reason from gaps`)).toEqual([
    { gap_from: new Date(hour(0)), gap_to: new Date(hour(1)), reason: 'worker_lost' },
  ]);
  expect(await t.select(sql`select window_from from pending_windows`)).toEqual([{ window_from: new Date(hour(1)) }]);
  expect(await reapRuns(t.deps)).toBe(false);
});

test('a stalled worker that wakes up writes nothing', async () => {
  const t = await startRuns(on, async ({ window }) => {
    if (window.from.toISOString() === hour(0)) {
      await acrossOrgs(t.db, (tx) =>
        sql`update run_queue set lease_until = clock_timestamp() - interval '1 s'`.execute(tx),
      );
      await reapRuns(t.deps);
    }
    return [{ _id: 'a', user: 'root' }];
  });
  await t.newDetection();
  const claim = await claimAt(t, hour(1));
  expect(await executeRun(t.deps, claim, never)).toBe('lost');
  expect(
    await t.select(sql`select 1 from coverage union all select 1 from candidates union all select 1 from hits`),
  ).toEqual([]);
  expect(await runsOf(t)).toMatchObject([{ status: 'queued' }]);
});

test('a stop of the process gives the run back, uncounted, and the next attempt goes on where it was', async () => {
  const stop = new AbortController();
  const t = await startRuns(on, ({ window }, signal) => {
    if (window.from.toISOString() === hour(1) && !stop.signal.aborted) stop.abort('shutdown');
    signal.throwIfAborted();
    return [];
  });
  await t.newDetection();
  const claim = await claimAt(t, hour(3));
  expect(await executeRun(t.deps, claim, stop.signal)).toBe('requeued');
  expect(await t.select(sql`select covered_to from coverage`)).toEqual([{ covered_to: new Date(hour(1)) }]);
  expect((await queueOf(t))[0]).toMatchObject({ state: 'queued', retries: 0 });
  await t.runAt(hour(3));
  const runs = await t.select(
    sql<{
      status: string;
      attempt: number;
      windows: string;
    }>`select status, attempt, windows from runs order by due_at desc`,
  );
  expect(runs[0]).toMatchObject({ status: 'completed', attempt: 1 });
  expect(JSON.parse(runs[0]!.windows)).toHaveLength(3);
});

test('a running run that is cancelled stops at its next step; a waiting one at once', async () => {
  const t = await startRuns(on, async () => {
    await cancelRun(t.deps, t.caller, claim.runId);
    return [{ _id: 'a', user: 'root' }];
  });
  await t.newDetection();
  const claim = await claimAt(t, hour(1));
  expect(await executeRun(t.deps, claim, never)).toBe('finished');
  expect(await runsOf(t)).toMatchObject([{ status: 'cancelled', status_reason: 'requested' }]);
  expect(
    await t.select(sql`select 1 from hits union all select 1 from run_days union all select 1 from run_queue`),
  ).toEqual([]);
  expect(await cancelRun(t.deps, t.caller, claim.runId)).toMatchObject({ status: 'cancelled' });
});

test('a deletion cancels the queued run; one that has results ends in good order and delivers nothing more', async () => {
  const t = await startRuns(on, async ({ window }) => {
    if (window.from.toISOString() === hour(1)) await deleteDetection(t.deps, t.caller, id);
    return [{ _id: window.from.toISOString(), user: 'root' }];
  });
  await t.select(sql`
    insert into outputs (organization_id, id, kind, name, shown_url, sealed, event_types, created_at, updated_at)
    values (${t.orgId}, gen_random_uuid(), 'webhook', 'x', 'x', '', '{hit.created,hit.updated,run.completed}', now(), now())`);
  const id = await t.newDetection();
  const claim = await claimAt(t, hour(3));
  expect(await executeRun(t.deps, claim, never)).toBe('finished');
  expect((await runsOf(t)).at(-1)).toMatchObject({ status: 'completed' });
  expect(await t.select(sql`select occurrences from hits`)).toEqual([{ occurrences: 3 }]);
  expect(await t.select(sql`select type from outbox`)).toEqual([{ type: 'hit.created' }]);
  const other = await t.newDetection();
  expect((await enqueueDueRunsAcrossOrgs(t.db, { now: new Date(hour(4)), spreadMs: 0, limit: 10 })).queued).toBe(1);
  await deleteDetection(t.deps, t.caller, other);
  expect((await runsOf(t)).at(-1)).toMatchObject({ status: 'cancelled', status_reason: 'deleted' });
});
