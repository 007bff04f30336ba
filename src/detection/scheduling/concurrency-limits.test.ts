import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { newAgentId } from '../../../test/support/models/agent-steps.ts';
import { startDelayProxy } from '../../../test/support/models/delay-proxy.ts';
import { newOrgId, testDatabase } from '../../../test/support/database.ts';
import { openDb } from '../../platform/db/db.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { claimRunsAcrossOrgs, type ConcurrencyLimits } from './claim-runs.store.ts';
import type { RunClaim } from './run-claim.ts';

const { db, url, query } = await testDatabase(16);
const now = new Date('2026-03-02T12:00:00Z');

/** Creates an organization with one queued run per alias, in order, each of its own detection. */
async function createQueuedRuns(aliases: readonly string[], cap = 8): Promise<OrgId> {
  const orgId = await newOrgId(db);
  await query`insert into lanes (organization_id, kind, cap) values (${orgId}, 'schedule', ${cap})`;
  for (const [n, alias] of aliases.entries()) {
    const id = await newAgentId(db, orgId);
    await query`update agents set model_alias = ${alias} where id = ${id}`;
    const at = new Date(now.getTime() - (1000 - n) * 1000);
    await query`insert into run_queue (organization_id, run_id, detection_id, kind, due_at, start_at)
      values (${orgId}, ${uuidv7()}, ${id}, 'schedule', ${at}, ${at})`;
  }
  return orgId;
}
const claim = (limit: number, limits: ConcurrencyLimits) => claimRunsAcrossOrgs(db, now, limit, limits);
const finish = (claims: RunClaim[]) =>
  query`delete from run_queue where run_id = any(${claims.map(({ runId }) => runId)}::uuid[])`;
const emptyQueue = () => query`delete from run_queue`;
afterEach(emptyQueue);
const countRunning = () =>
  query<{ alias: string | null; org: OrgId; n: number }>`
    select model_alias as alias, organization_id as org, count(*)::int as n from run_queue where state = 'running' group by 1, 2`;
const sumCounts = (counts: { n: number }[]): number => counts.reduce((sum, { n }) => sum + n, 0);

test('does not let 500 queued runs of a slow model block runs without a model', async () => {
  const orgId = await createQueuedRuns([...Array.from({ length: 500 }, () => 'slow'), 'analyst', 'default', 'analyst']);
  const other = await createQueuedRuns(['slow', 'analyst']);
  const limits = { slow: 100, quick: 5 };
  const seen: RunClaim[] = [];
  for (let turn = 0; turn < 20; turn += 1) {
    const claims = await claim(8, limits);
    seen.push(...claims);
    // Runs with the slow model never end.
    await finish(claims.filter(({ modelAlias }) => modelAlias !== 'slow'));
  }
  expect(seen.filter(({ orgId: owner, modelAlias }) => owner === orgId && modelAlias !== 'slow')).toHaveLength(3);
  expect(seen.filter(({ orgId: owner }) => owner === other)).toHaveLength(2);
  expect(await countRunning()).toEqual(
    expect.arrayContaining([
      { alias: 'slow', org: orgId, n: 7 },
      { alias: 'slow', org: other, n: 1 },
    ]),
  );
});

test('skips runs of a model without a free place', async () => {
  await createQueuedRuns(['slow', 'slow', 'analyst']);
  expect((await claim(8, { slow: 1 })).map(({ modelAlias }) => modelAlias)).toEqual(['slow', null]);
  expect(await claim(8, { slow: 1 })).toEqual([]);
  expect(await claim(8, { slow: 0 })).toEqual([]);
  expect(await claim(8, { slow: 2 })).toHaveLength(1);
});

test('does not hold the model lock for a network round trip', async () => {
  const remoteDb = openDb((await startDelayProxy(url, 100)).href, 4);
  const claimBy = async (claimers: number): Promise<{ claims: RunClaim[]; ms: number }> => {
    const began = performance.now();
    const each = Array.from({ length: claimers }, () => claimRunsAcrossOrgs(remoteDb, now, 1, { slow: 100 }));
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

test('never exceeds model or lane limits and starves no run, for any queue and any race of claimers', async () => {
  const alias = fc.constantFrom('slow', 'quick', 'analyst', 'default');
  const lane = fc.record({
    aliases: fc.array(alias, { minLength: 1, maxLength: 8 }),
    cap: fc.integer({ min: 1, max: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(lane, { minLength: 1, maxLength: 3 }),
      fc.record({ slow: fc.integer({ min: 1, max: 3 }), quick: fc.integer({ min: 1, max: 3 }) }),
      async (lanes, limits: Record<string, number>) => {
        const caps = new Map<OrgId, number>();
        for (const { aliases, cap } of lanes) caps.set(await createQueuedRuns(aliases, cap), cap);
        let left = lanes.flatMap(({ aliases }) => aliases).length;
        for (let turn = 0; left > 0; turn += 1) {
          expect(turn).toBeLessThan(100);
          const claims = (await Promise.all([1, 2, 3].map((limit) => claim(limit, limits)))).flat();
          const now = await countRunning();
          for (const [name, max] of Object.entries(limits))
            expect(sumCounts(now.filter(({ alias }) => alias === name))).toBeLessThanOrEqual(max);
          for (const [org, cap] of caps) {
            expect(sumCounts(now.filter((one) => one.org === org))).toBeLessThanOrEqual(cap);
            const withModel = now.filter((one) => one.org === org && (one.alias ?? '') in limits);
            expect(sumCounts(withModel)).toBeLessThanOrEqual(Math.max(cap - 1, 1));
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
