import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { newAgentId } from '../../../test/support/models/agent-steps.ts';
import { startDelayProxy } from '../../../test/support/models/delay-proxy.ts';
import { newOrgId, testDatabase } from '../../../test/support/database.ts';
import { inOrg, openDb } from '../../platform/db/db.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { claimJudgingAcrossOrgs, claimRunsAcrossOrgs, type ConcurrencyLimits } from './claim-runs.store.ts';
import type { RunClaim, RunKind } from './run-claim.ts';
import { handOverRun } from './run-queue.store.ts';

const { db, url, query } = await testDatabase(16);
const now = new Date('2026-03-02T12:00:00Z');

/** Creates an organization with one run per alias that waits for its model, in order, each of its own detection. Without an alias, one to examine. */
async function createQueuedRuns(aliases: readonly (string | null)[]): Promise<OrgId> {
  const orgId = await newOrgId(db);
  await query`insert into lanes (organization_id, kind) values (${orgId}, 'schedule')`;
  for (const [n, alias] of aliases.entries()) await queueRun(orgId, await newAgentId(db, orgId), { alias, n });
  return orgId;
}

async function queueRun(
  orgId: OrgId,
  detectionId: string,
  { alias, n, kind = 'schedule' }: { alias: string | null; n: number; kind?: RunKind },
): Promise<string> {
  const at = new Date(now.getTime() - (1000 - n) * 1000);
  const runId = uuidv7(at);
  await query`insert into run_queue (organization_id, run_id, detection_id, kind, due_at, start_at, begun, attempt)
    values (${orgId}, ${runId}, ${detectionId}, ${kind}, ${at}, ${at}, true, 1)`;
  if (alias !== null)
    await inOrg(db, orgId, (tx) =>
      handOverRun(tx, { orgId, runId, kind } as RunClaim, { modelAlias: alias, failure: null }),
    );
  return runId;
}

const claim = (limit: number, limits: ConcurrencyLimits) => claimJudgingAcrossOrgs(db, now, limit, limits);
const finish = (claims: RunClaim[]) =>
  query`delete from run_queue where run_id = any(${claims.map(({ runId }) => runId)}::uuid[])`;
const emptyQueue = () => query`delete from run_queue`;
afterEach(emptyQueue);
const countRunning = () =>
  query<{ alias: string; org: OrgId; n: number }>`
    select model_alias as alias, organization_id as org, count(*)::int as n from run_queue where state = 'running' group by 1, 2`;
const sumCounts = (counts: { n: number }[]): number => counts.reduce((sum, { n }) => sum + n, 0);
const repeat = (n: number, alias: string): string[] => Array.from({ length: n }, () => alias);

test('claims runs to examine and of other aliases while 500 runs of a slow model wait', async () => {
  const orgId = await createQueuedRuns([...repeat(500, 'slow'), 'quick', null, 'gone']);
  const other = await createQueuedRuns(['slow', 'quick']);
  const limits = { slow: 8, quick: 5 };
  const seen = { [orgId]: [] as string[], [other]: [] as string[] };
  for (let turn = 0; turn < 30; turn += 1) {
    const claims = await claim(1, limits);
    for (const { orgId: org, runId } of claims)
      seen[org]!.push(
        (await query<{ alias: string }>`select model_alias as alias from run_queue where run_id = ${runId}`)[0]!.alias,
      );
  }
  // One place of the slow alias remains for other organizations. An alias that is not configured has no limit.
  expect(seen[orgId]!.toSorted()).toEqual(['gone', 'quick', ...repeat(7, 'slow')]);
  expect(seen[other]!.toSorted()).toEqual(['quick', 'slow']);
  expect(await claimRunsAcrossOrgs(db, now, 8)).toMatchObject([{ orgId, phase: 'examine' }]);
});

test('lets organizations take turns within an alias', async () => {
  const big = await createQueuedRuns(repeat(30, 'm'));
  const small = await createQueuedRuns(repeat(3, 'm'));
  const served: OrgId[] = [];
  for (let turn = 0; turn < 8; turn += 1) {
    const claims = await claim(1, { m: 2 });
    served.push(...claims.map(({ orgId }) => orgId));
    await finish(claims);
  }
  expect(served.slice(0, 6).filter((orgId) => orgId === small)).toHaveLength(3);
  expect(served.slice(6)).toEqual([big, big]);
});

test('does not let backfills delay the other runs of their organization and alias', async () => {
  const orgId = await createQueuedRuns([]);
  for (let n = 0; n < 10; n += 1)
    await queueRun(orgId, await newAgentId(db, orgId), { alias: 'm', n, kind: 'backfill' });
  await queueRun(orgId, await newAgentId(db, orgId), { alias: 'm', n: 20 });
  await queueRun(orgId, await newAgentId(db, orgId), { alias: 'm', n: 30, kind: 'manual' });
  const kinds: string[] = [];
  for (let turn = 0; turn < 10; turn += 1) kinds.push(...(await claim(1, { m: 8 })).map(({ kind }) => kind));
  expect(kinds.toSorted()).toEqual(['backfill', 'backfill', 'manual', 'schedule']);
});

test('leaves runs of a model without a free place in the queue', async () => {
  const orgId = await createQueuedRuns(['m', 'm', 'm']);
  expect(await claim(8, { m: 0 })).toEqual([]);
  const [first] = await claim(8, { m: 1 });
  expect(first).toMatchObject({ orgId, phase: 'judge', attempt: 1, failure: null });
  expect(await claim(8, { m: 1 })).toEqual([]);
  expect(await claim(8, { m: 2 })).toHaveLength(1);
});

test('takes a place of the alias in escalateTo too', async () => {
  await createQueuedRuns([...repeat(3, 'cheap'), ...repeat(2, 'strong')]);
  const limits = { cheap: { places: 8, escalateTo: 'strong' }, strong: 2 };
  const claimed = [...(await claim(8, limits)), ...(await claim(8, limits)), ...(await claim(8, limits))];
  expect(claimed).toHaveLength(2);
  await finish(claimed);
  expect(await claim(8, { ...limits, strong: 0 })).toEqual([]);
  expect(await claim(8, { cheap: 8, strong: 0 })).not.toEqual([]);
});

test('judges the runs of a detection one after the other, in the order of their slots, while the next is examined', async () => {
  const orgId = await createQueuedRuns([]);
  const detectionId = await newAgentId(db, orgId);
  const first = await queueRun(orgId, detectionId, { alias: 'm', n: 1 });
  const second = await queueRun(orgId, detectionId, { alias: 'other', n: 2 });
  const third = await queueRun(orgId, detectionId, { alias: null, n: 3 });
  const limits = { m: 8, other: 8 };
  expect((await claim(8, limits)).map(({ runId }) => runId)).toEqual([first]);
  expect(await claim(8, limits)).toEqual([]);
  expect((await claimRunsAcrossOrgs(db, now, 8)).map(({ runId }) => runId)).toEqual([third]);
  await query`update run_queue set state = 'queued', retry_at = clock_timestamp() + interval '1 minute' where run_id = ${first}`;
  expect(await claim(8, limits)).toEqual([]);
  await query`delete from run_queue where run_id = ${first}`;
  expect((await claim(8, limits)).map(({ runId }) => runId)).toEqual([second]);
});

test('does not hold the lock of the aliases for a network round trip', async () => {
  const remoteDb = openDb((await startDelayProxy(url, 100)).href, 4);
  const claimBy = async (claimers: number): Promise<{ claims: RunClaim[]; ms: number }> => {
    const began = performance.now();
    const each = Array.from({ length: claimers }, () => claimJudgingAcrossOrgs(remoteDb, now, 1, { slow: 100 }));
    return { claims: (await Promise.all(each)).flat(), ms: performance.now() - began };
  };
  await claimBy(4);
  for (let n = 0; n < 30; n += 1) await createQueuedRuns(['slow', 'slow']);
  // If the lock were held for a round trip, the last of four claims would take five times as long as one. Load can only add time.
  let [alone, together] = [Infinity, Infinity];
  for (let n = 0; n < 10 && !(together / alone < 3); n += 1) {
    alone = Math.min(alone, (await claimBy(1)).ms);
    const { claims, ms } = await claimBy(4);
    expect(claims.length).toBeGreaterThan(0);
    together = Math.min(together, ms);
  }
  expect(together / alone).toBeLessThan(3);
  await remoteDb.destroy();
});

test('never exceeds the limit of an alias or the share of an organization and starves no run, for any queue and any race of claimers', async () => {
  const lane = fc.array(fc.constantFrom('slow', 'quick'), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(lane, { minLength: 1, maxLength: 3 }),
      fc.record({ slow: fc.integer({ min: 1, max: 4 }), quick: fc.integer({ min: 1, max: 4 }) }),
      async (lanes, limits: Record<string, number>) => {
        for (const aliases of lanes) await createQueuedRuns(aliases);
        let left = lanes.flat().length;
        for (let turn = 0; left > 0; turn += 1) {
          expect(turn).toBeLessThan(100);
          const claims = (await Promise.all([1, 2, 3].map((limit) => claim(limit, limits)))).flat();
          const counts = await countRunning();
          for (const [name, max] of Object.entries(limits)) {
            const ofAlias = counts.filter(({ alias }) => alias === name);
            expect(sumCounts(ofAlias)).toBeLessThanOrEqual(max);
            for (const { n } of ofAlias) expect(n).toBeLessThanOrEqual(max > 2 ? max - 1 : max);
          }
          left -= claims.length;
          await finish(claims);
        }
        await emptyQueue();
      },
    ),
    { numRuns: 12 },
  );
});
