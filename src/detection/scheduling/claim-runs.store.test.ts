import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { newAgentId } from '../../../test/support/models/agent-steps.ts';
import { newOrgId, testDatabase } from '../../../test/support/database.ts';
import { acrossOrgs, inOrg, rows } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { claimRunsAcrossOrgs, reapLostRunsAcrossOrgs, renewLeasesAcrossOrgs, type Claim } from './claim-runs.store.ts';
import { enqueueDueRunsAcrossOrgs } from './enqueue-runs.ts';
import { fence, holdRun, requeue, RunCancelled, RunLost } from './run-fence.ts';
import { openSchedule } from './schedule-lifecycle.ts';

const { db } = await testDatabase(16);
let day = 0;

/** An organization with hourly detections whose first slot is due; each test has a day of its own and leaves nothing due. */
async function dueOrg(detections: number, at = new Date(Date.UTC(2026, 0, (day += 1), 0, 30))) {
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
const queueOf = (orgId: OrgId) =>
  inOrg(db, orgId, (tx) =>
    rows(tx, sql<{ state: string; attempt: number; lost: number }>`select state, attempt, lost from run_queue`),
  );
const empty = () =>
  acrossOrgs(db, async (tx) => {
    await sql`delete from run_queue`.execute(tx);
    await sql`update schedules set active = false`.execute(tx);
  });
const expire = (claim: Claim) =>
  acrossOrgs(db, (tx) =>
    sql`update run_queue set lease_until = clock_timestamp() - interval '1 s' where run_id = ${claim.runId}`.execute(
      tx,
    ),
  );
const first = async (now: Date): Promise<Claim> => (await claimRunsAcrossOrgs(db, now, 1))[0]!;

test('schedulers racing over one slot make one run of each detection', async () => {
  const { orgId, due } = await dueOrg(20);
  await Promise.all([1, 2, 3, 4].map(() => enqueue(due)));
  const [made] = await inOrg(db, orgId, (tx) =>
    rows(tx, sql<{ n: number; d: number }>`select count(*) as n, count(distinct detection_id) as d from runs`),
  );
  expect(made).toEqual({ n: 20, d: 20 });
  expect(await queueOf(orgId)).toHaveLength(20);
  await empty();
});

test('claimers racing get every run once and no lane beyond its places', async () => {
  const { orgId, due } = await dueOrg(30);
  await enqueue(due);
  const claims = (await Promise.all(Array.from({ length: 12 }, () => claimRunsAcrossOrgs(db, due, 3)))).flat();
  expect(new Set(claims.map((claim) => claim.runId)).size).toBe(claims.length);
  expect((await queueOf(orgId)).filter(({ state }) => state === 'running').length).toBe(claims.length);
  expect(claims.length).toBeLessThanOrEqual(8);
  while ((await claimRunsAcrossOrgs(db, due, 3)).length > 0);
  expect((await queueOf(orgId)).filter(({ state }) => state === 'running')).toHaveLength(8);
  await empty();
});

test('runs of several slots of one detection, all due for another attempt, are claimed one after the other', async () => {
  const { orgId, at } = await dueOrg(2);
  for (let slot = 1; slot <= 3; slot++) {
    const now = new Date(at.getTime() + slot * 3_600_000);
    await enqueue(now);
    const claims = await claimRunsAcrossOrgs(db, now, 8);
    expect(claims.map(({ dueAt }) => dueAt.getUTCHours())).toEqual([slot, slot]);
    for (const claim of claims)
      await inOrg(db, orgId, (tx) => requeue(tx, claim, { counted: true, retryMs: 3_600_000 }));
  }
  await acrossOrgs(db, (tx) => sql`update run_queue set retry_at = null`.execute(tx));
  const now = new Date(at.getTime() + 3 * 3_600_000);
  for (let slot = 1; slot <= 3; slot++) {
    const claims = await claimRunsAcrossOrgs(db, now, 8);
    expect(claims.map(({ dueAt }) => dueAt.getUTCHours())).toEqual([slot, slot]);
    expect(await claimRunsAcrossOrgs(db, now, 8)).toEqual([]);
    for (const { runId } of claims)
      await inOrg(db, orgId, (tx) => sql`delete from run_queue where run_id = ${runId}`.execute(tx));
  }
  await empty();
});

test('an organization with many due detections does not starve one with few', async () => {
  const big = await dueOrg(300);
  const small = await dueOrg(3, big.at);
  await enqueue(big.due);
  const served: OrgId[] = [];
  for (let turn = 0; turn < 6; turn++) {
    for (const claim of await claimRunsAcrossOrgs(db, big.due, 2)) {
      served.push(claim.orgId);
      await inOrg(db, claim.orgId, (tx) => sql`delete from run_queue where run_id = ${claim.runId}`.execute(tx));
    }
  }
  expect(served.slice(0, 8).filter((orgId) => orgId === small.orgId)).toHaveLength(3);
  await empty();
});

test('one detection never runs twice at once, and starts are spread', async () => {
  const { due, ids } = await dueOrg(1);
  await enqueue(due, 600_000);
  const starts = new Date(due.getTime() + Math.floor((Number.parseInt(ids[0]!.slice(-8), 16) / 2 ** 32) * 600_000));
  expect(await claimRunsAcrossOrgs(db, new Date(starts.getTime() - 1), 1)).toEqual([]);
  const claim = await first(starts);
  const next = new Date(due.getTime() + 3_600_000 + 600_000);
  await enqueue(next);
  expect(await claimRunsAcrossOrgs(db, next, 1)).toEqual([]);
  await inOrg(db, claim.orgId, (tx) => sql`delete from run_queue where run_id = ${claim.runId}`.execute(tx));
  expect(await claimRunsAcrossOrgs(db, next, 1)).toHaveLength(1);
  await empty();
});

test('a worker whose run was taken over can neither write nor renew', async () => {
  const { orgId, due } = await dueOrg(1);
  await enqueue(due);
  const stalled = await first(due);
  expect(await renewLeasesAcrossOrgs(db, [stalled])).toEqual([
    { runId: stalled.runId, worker: stalled.worker, cancel: false },
  ]);
  expect(await reapLostRunsAcrossOrgs(db, 10)).toEqual({ requeued: 0, over: [] });
  await expire(stalled);
  expect(await renewLeasesAcrossOrgs(db, [stalled])).toEqual([]);
  expect(await reapLostRunsAcrossOrgs(db, 10)).toEqual({ requeued: 1, over: [] });
  await expect(inOrg(db, orgId, (tx) => fence(tx, stalled))).rejects.toThrow(RunLost);
  const second = await first(due);
  expect(second).toMatchObject({ runId: stalled.runId, attempt: 2, resumed: true });
  await expect(inOrg(db, orgId, (tx) => fence(tx, stalled))).rejects.toThrow(RunLost);
  expect(await renewLeasesAcrossOrgs(db, [stalled])).toEqual([]);
  await inOrg(db, orgId, (tx) => fence(tx, second));
  await empty();
});

test('a claim that does not count gives its number back, and still its writes are told apart', async () => {
  const { orgId, due } = await dueOrg(1);
  await enqueue(due);
  const stopped = await first(due);
  await inOrg(db, orgId, (tx) => requeue(tx, stopped, { counted: false }));
  const next = await first(due);
  expect(next.attempt).toBe(1);
  await expect(inOrg(db, orgId, (tx) => fence(tx, stopped))).rejects.toThrow(RunLost);
  await inOrg(db, orgId, (tx) => fence(tx, next));
  await empty();
});

test('a run that waits for its next attempt is not claimed before, and not superseded by a newer slot', async () => {
  const { orgId, due } = await dueOrg(1);
  await enqueue(due);
  const failed = await first(due);
  await inOrg(db, orgId, (tx) => requeue(tx, failed, { counted: true, retryMs: 200 }));
  expect(await claimRunsAcrossOrgs(db, due, 1)).toEqual([]);
  await enqueue(new Date(due.getTime() + 3_600_000));
  expect(await queueOf(orgId)).toHaveLength(2);
  await new Promise((done) => {
    setTimeout(done, 250);
  });
  expect(await claimRunsAcrossOrgs(db, due, 1)).toMatchObject([{ runId: failed.runId, attempt: 2, retries: 1 }]);
  await empty();
});

test('the third loss, and a loss of a run that was to be cancelled, are for the reaper to end', async () => {
  const { orgId, due } = await dueOrg(1);
  await enqueue(due);
  for (const lost of [1, 2]) {
    await expire(await first(due));
    expect(await reapLostRunsAcrossOrgs(db, 10)).toEqual({ requeued: 1, over: [] });
    expect(await queueOf(orgId)).toEqual([{ state: 'queued', attempt: lost, lost }]);
  }
  await expire(await first(due));
  const { over } = await reapLostRunsAcrossOrgs(db, 10);
  expect(over).toMatchObject([{ cancel: false, claim: { attempt: 3 } }]);
  await inOrg(db, orgId, (tx) => holdRun(tx, over[0]!.claim));
  await sqlCancel(over[0]!.claim);
  await expect(inOrg(db, orgId, (tx) => fence(tx, over[0]!.claim))).rejects.toThrow(RunCancelled);
  await expire(over[0]!.claim);
  expect((await reapLostRunsAcrossOrgs(db, 10)).over).toMatchObject([{ cancel: true }]);
  await empty();
});

const sqlCancel = (claim: Claim) =>
  acrossOrgs(db, (tx) => sql`update run_queue set cancel_requested = true where run_id = ${claim.runId}`.execute(tx));

test('a lane of one place never holds two, however its claimers interleave', async () => {
  const { orgId, due } = await dueOrg(150);
  await enqueue(due);
  await inOrg(db, orgId, (tx) => sql`update lanes set cap = 1`.execute(tx));
  let left = 150;
  let most = 0;
  const work = async (): Promise<void> => {
    while (left > 0) {
      const [claim] = await claimRunsAcrossOrgs(db, due, 1);
      if (!claim) continue;
      const running = (await queueOf(orgId)).filter(({ state }) => state === 'running').length;
      most = Math.max(most, running);
      await inOrg(db, orgId, (tx) => sql`delete from run_queue where run_id = ${claim.runId}`.execute(tx));
      left -= 1;
    }
  };
  await Promise.all(Array.from({ length: 12 }, work));
  expect(most).toBe(1);
  await empty();
});

test('nobody takes a run over while a transaction writes for it', async () => {
  const { orgId, due } = await dueOrg(1);
  await enqueue(due);
  const claim = await first(due);
  await expire(claim);
  await inOrg(db, orgId, async (tx) => {
    await fence(tx, claim);
    expect(await reapLostRunsAcrossOrgs(db, 10)).toEqual({ requeued: 0, over: [] });
  });
  expect(await reapLostRunsAcrossOrgs(db, 10)).toEqual({ requeued: 1, over: [] });
  await empty();
});
