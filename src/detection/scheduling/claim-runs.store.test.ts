import { afterEach, expect, test } from 'vitest';
import { newAgentId } from '../../../test/support/models/agent-steps.ts';
import { newOrgId, testDatabase } from '../../../test/support/database.ts';
import { inOrg } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { claimRunsAcrossOrgs } from './claim-runs.store.ts';
import { type RunClaim, fenceRun, lockClaimedRun, RunCancelledError, RunLostError } from './run-claim.ts';
import { enqueueDueRunsAcrossOrgs } from './enqueue-runs.ts';
import { reapLostRunsAcrossOrgs, renewLeasesAcrossOrgs, requestCancellation, requeueRun } from './run-queue.store.ts';
import { openSchedule } from './schedule-lifecycle.ts';

const { db, query } = await testDatabase(16);
let day = 0;

/** Creates an organization with hourly detections whose first slot is due. Each test uses another day and empties the queue at its end. */
async function createDueOrg(detections: number, at = new Date(Date.UTC(2026, 0, (day += 1), 0, 30))) {
  const orgId = await newOrgId(db);
  const ids = await Promise.all(Array.from({ length: detections }, () => newAgentId(db, orgId)));
  for (const detectionId of ids) {
    await inOrg(db, orgId, (tx) =>
      openSchedule(tx, { orgId, detectionId, cron: '0 * * * *', active: true, lookbackMinutes: null, now: at }),
    );
  }
  return { orgId, ids, at, due: new Date(at.getTime() + 30 * 60_000) };
}

const enqueue = (now: Date, spreadMs = 0) => enqueueDueRunsAcrossOrgs(db, { now, spreadMs, limit: 1000 });
const listQueue = (orgId: OrgId) =>
  query<{ state: string; attempt: number; lost: number }>`
    select state, attempt, lost from run_queue where organization_id = ${orgId}`;
const countRunning = async (orgId: OrgId) => (await listQueue(orgId)).filter(({ state }) => state === 'running').length;
const dequeue = ({ runId }: RunClaim) => query`delete from run_queue where run_id = ${runId}`;
const expireLease = ({ runId }: RunClaim) =>
  query`update run_queue set lease_until = clock_timestamp() - interval '1 s' where run_id = ${runId}`;
afterEach(async () => {
  await query`delete from run_queue`;
  await query`update schedules set active = false`;
});
const claimFirst = async (now: Date): Promise<RunClaim> => (await claimRunsAcrossOrgs(db, now, 1))[0]!;

test('creates one run per detection when several schedulers enqueue the same slot', async () => {
  const { orgId, due } = await createDueOrg(20);
  await Promise.all([1, 2, 3, 4].map(() => enqueue(due)));
  const [counts] = await query`
    select count(*) as n, count(distinct detection_id) as d from runs where organization_id = ${orgId}`;
  expect(counts).toEqual({ n: 20, d: 20 });
  expect(await listQueue(orgId)).toHaveLength(20);
});

test('claims each run once and never exceeds the lane cap under concurrent claims', async () => {
  const { orgId, due } = await createDueOrg(30);
  await enqueue(due);
  const claims = (await Promise.all(Array.from({ length: 12 }, () => claimRunsAcrossOrgs(db, due, 3)))).flat();
  expect(new Set(claims.map((claim) => claim.runId)).size).toBe(claims.length);
  expect(await countRunning(orgId)).toBe(claims.length);
  expect(claims.length).toBeLessThanOrEqual(8);
  while ((await claimRunsAcrossOrgs(db, due, 3)).length > 0);
  expect(await countRunning(orgId)).toBe(8);
});

test('claims retried runs of several slots of one detection one after the other', async () => {
  const { orgId, at } = await createDueOrg(2);
  for (let slot = 1; slot <= 3; slot++) {
    const now = new Date(at.getTime() + slot * 3_600_000);
    await enqueue(now);
    const claims = await claimRunsAcrossOrgs(db, now, 8);
    expect(claims.map(({ dueAt }) => dueAt.getUTCHours())).toEqual([slot, slot]);
    for (const claim of claims)
      await inOrg(db, orgId, (tx) => requeueRun(tx, claim, { countsAttempt: true, retryMs: 3_600_000 }));
  }
  await query`update run_queue set retry_at = null`;
  const now = new Date(at.getTime() + 3 * 3_600_000);
  for (let slot = 1; slot <= 3; slot++) {
    const claims = await claimRunsAcrossOrgs(db, now, 8);
    expect(claims.map(({ dueAt }) => dueAt.getUTCHours())).toEqual([slot, slot]);
    expect(await claimRunsAcrossOrgs(db, now, 8)).toEqual([]);
    for (const claim of claims) await dequeue(claim);
  }
});

test('does not starve an organization with few due detections', async () => {
  const big = await createDueOrg(300);
  const small = await createDueOrg(3, big.at);
  await enqueue(big.due);
  const served: OrgId[] = [];
  for (let turn = 0; turn < 6; turn++) {
    for (const claim of await claimRunsAcrossOrgs(db, big.due, 2)) {
      served.push(claim.orgId);
      await dequeue(claim);
    }
  }
  expect(served.slice(0, 8).filter((orgId) => orgId === small.orgId)).toHaveLength(3);
});

// With few lanes, a claim reads those of up to 12 due starts, with many, those of up to 100, and otherwise all lanes.
test.each([
  [0, 0],
  [20, 0],
  [20, 150],
  [150, 150],
])(
  'finds the run that may start among many that may not, %i starts of a full lane and %i idle lanes',
  async (starts, idle) => {
    await query`
      with added as (insert into organizations (id, name) select gen_random_uuid(), gen_random_uuid() from generate_series(1, ${idle}) returning id)
      insert into lanes (organization_id, kind) select id, 'schedule' from added`;
    const [full, waiting] = [await createDueOrg(8 + starts), await newOrgId(db)];
    const { at, due } = full;
    await enqueue(due);
    expect(await claimRunsAcrossOrgs(db, due, 8)).toHaveLength(8);
    await query`update run_queue set start_at = start_at - interval '1 ms' * ('x' || right(run_id::text, 4))::bit(16)::int where state = 'queued'`;
    for (let org = 0; org < 40; org += 1) await createDueOrg(3, at);
    const detectionId = await newAgentId(db, waiting);
    await inOrg(db, waiting, (tx) =>
      openSchedule(tx, {
        orgId: waiting,
        detectionId,
        cron: '0 * * * *',
        active: true,
        lookbackMinutes: null,
        now: at,
      }),
    );
    await enqueue(due);
    await query`
    update run_queue set start_at = start_at + interval '1 minute' where state = 'queued' and organization_id not in (${full.orgId}, ${waiting})`;
    expect((await claimRunsAcrossOrgs(db, due, 8)).map(({ orgId }) => orgId)).toEqual([waiting]);
    expect(await claimRunsAcrossOrgs(db, due, 8)).toEqual([]);
    expect(await claimRunsAcrossOrgs(db, new Date(due.getTime() + 60_000), 8)).toHaveLength(3);
  },
);

const startOf = (due: Date, id: string): Date =>
  new Date(due.getTime() + Math.floor((Number.parseInt(id.slice(-8), 16) / 2 ** 32) * 600_000));

test('starts the runs of an organization together, and those on a connection one by one', async () => {
  const { orgId, due, ids } = await createDueOrg(4);
  const [first, second] = ids;
  await query`update schedules set connection_id = ${orgId} where detection_id = any(${[first, second]}::uuid[])`;
  await enqueue(due, 600_000);
  const queued = await query<{ id: string; at: Date }>`
    select detection_id as id, start_at as at from run_queue where organization_id = ${orgId}`;
  const starts = new Map(queued.map(({ id, at }) => [id, at]));
  for (const id of ids) expect(starts.get(id)).toEqual(startOf(due, [first, second].includes(id) ? id : orgId));
});

test('runs a detection once at a time and spreads starts', async () => {
  const { orgId, due } = await createDueOrg(1);
  await enqueue(due, 600_000);
  const starts = startOf(due, orgId);
  expect(await claimRunsAcrossOrgs(db, new Date(starts.getTime() - 1), 1)).toEqual([]);
  const claim = await claimFirst(starts);
  const next = new Date(due.getTime() + 3_600_000 + 600_000);
  await enqueue(next);
  expect(await claimRunsAcrossOrgs(db, next, 1)).toEqual([]);
  await dequeue(claim);
  expect(await claimRunsAcrossOrgs(db, next, 1)).toHaveLength(1);
});

test('refuses writes and lease renewals of a worker whose run was taken over', async () => {
  const { orgId, due } = await createDueOrg(1);
  await enqueue(due);
  const stalled = await claimFirst(due);
  expect(await renewLeasesAcrossOrgs(db, [stalled])).toEqual([
    { runId: stalled.runId, worker: stalled.worker, cancelRequested: false },
  ]);
  expect(await reapLostRunsAcrossOrgs(db, 10)).toEqual({ requeued: 0, toEnd: [] });
  await expireLease(stalled);
  expect(await renewLeasesAcrossOrgs(db, [stalled])).toEqual([]);
  expect(await reapLostRunsAcrossOrgs(db, 10)).toEqual({ requeued: 1, toEnd: [] });
  await expect(inOrg(db, orgId, (tx) => fenceRun(tx, stalled))).rejects.toThrow(RunLostError);
  const second = await claimFirst(due);
  expect(second).toMatchObject({ runId: stalled.runId, attempt: 2, resumed: true });
  await expect(inOrg(db, orgId, (tx) => fenceRun(tx, stalled))).rejects.toThrow(RunLostError);
  expect(await renewLeasesAcrossOrgs(db, [stalled])).toEqual([]);
  await inOrg(db, orgId, (tx) => fenceRun(tx, second));
});

test('gives back the attempt number of an uncounted claim and still fences its writes', async () => {
  const { orgId, due } = await createDueOrg(1);
  await enqueue(due);
  const stopped = await claimFirst(due);
  await inOrg(db, orgId, (tx) => requeueRun(tx, stopped, { countsAttempt: false }));
  const next = await claimFirst(due);
  expect(next.attempt).toBe(1);
  await expect(inOrg(db, orgId, (tx) => fenceRun(tx, stopped))).rejects.toThrow(RunLostError);
  await inOrg(db, orgId, (tx) => fenceRun(tx, next));
});

test('neither claims a run before its next attempt nor supersedes it by a newer slot', async () => {
  const { orgId, due } = await createDueOrg(1);
  await enqueue(due);
  const failed = await claimFirst(due);
  await inOrg(db, orgId, (tx) => requeueRun(tx, failed, { countsAttempt: true, retryMs: 60_000 }));
  expect(await claimRunsAcrossOrgs(db, due, 1)).toEqual([]);
  await enqueue(new Date(due.getTime() + 3_600_000));
  expect(await listQueue(orgId)).toHaveLength(2);
  await query`update run_queue set retry_at = retry_at - interval '60 s' where run_id = ${failed.runId}`;
  expect(await claimRunsAcrossOrgs(db, due, 1)).toMatchObject([{ runId: failed.runId, attempt: 2, retries: 1 }]);
});

test('hands runs lost for the third time and cancelled runs to the reaper', async () => {
  const { orgId, due } = await createDueOrg(1);
  await enqueue(due);
  for (const lost of [1, 2]) {
    await expireLease(await claimFirst(due));
    expect(await reapLostRunsAcrossOrgs(db, 10)).toEqual({ requeued: 1, toEnd: [] });
    expect(await listQueue(orgId)).toEqual([{ state: 'queued', attempt: lost, lost }]);
  }
  await expireLease(await claimFirst(due));
  const { toEnd } = await reapLostRunsAcrossOrgs(db, 10);
  expect(toEnd).toMatchObject([{ cancelRequested: false, claim: { attempt: 3 } }]);
  await inOrg(db, orgId, (tx) => lockClaimedRun(tx, toEnd[0]!.claim));
  await inOrg(db, orgId, (tx) => requestCancellation(tx, orgId, toEnd[0]!.claim.runId));
  await expect(inOrg(db, orgId, (tx) => fenceRun(tx, toEnd[0]!.claim))).rejects.toThrow(RunCancelledError);
  await expireLease(toEnd[0]!.claim);
  expect((await reapLostRunsAcrossOrgs(db, 10)).toEnd).toMatchObject([{ cancelRequested: true }]);
});

test('never exceeds a lane cap of one under interleaved claims', async () => {
  const { orgId, due } = await createDueOrg(150);
  await enqueue(due);
  await query`update lanes set cap = 1 where organization_id = ${orgId}`;
  let left = 150;
  let most = 0;
  const work = async (): Promise<void> => {
    while (left > 0) {
      const [claim] = await claimRunsAcrossOrgs(db, due, 1);
      if (!claim) continue;
      most = Math.max(most, await countRunning(orgId));
      await dequeue(claim);
      left -= 1;
    }
  };
  await Promise.all(Array.from({ length: 12 }, work));
  expect(most).toBe(1);
});

test('does not reap a run while a transaction has it fenced', async () => {
  const { orgId, due } = await createDueOrg(1);
  await enqueue(due);
  const claim = await claimFirst(due);
  await expireLease(claim);
  await inOrg(db, orgId, async (tx) => {
    await fenceRun(tx, claim);
    expect(await reapLostRunsAcrossOrgs(db, 10)).toEqual({ requeued: 0, toEnd: [] });
  });
  expect(await reapLostRunsAcrossOrgs(db, 10)).toEqual({ requeued: 1, toEnd: [] });
});
