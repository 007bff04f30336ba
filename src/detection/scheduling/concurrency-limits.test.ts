import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { newAgentId } from '../../../test/support/models/agent-steps.ts';
import { bridgeTo } from '../../../test/support/models/stand-in-bridge.ts';
import { newOrgId, testDatabase } from '../../../test/support/database.ts';
import { acrossOrgs, inOrg, openDb, rows } from '../../platform/db/db.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { claimRunsAcrossOrgs, type Claim } from './claim-runs.store.ts';
import type { Places } from './concurrency-limits.ts';

const { db, url } = await testDatabase(16);
const now = new Date('2026-03-02T12:00:00Z');

/** An organization with queued runs, one of a detection each, in the order of their aliases. */
async function queue(aliases: readonly string[], cap = 8): Promise<OrgId> {
  const orgId = await newOrgId(db);
  await inOrg(db, orgId, (tx) =>
    sql`insert into lanes (organization_id, kind, cap) values (${orgId}, 'schedule', ${cap})`.execute(tx),
  );
  for (const [n, alias] of aliases.entries()) {
    const id = await newAgentId(db, orgId);
    await inOrg(db, orgId, async (tx) => {
      await sql`update agents set model_alias = ${alias} where id = ${id}`.execute(tx);
      const at = new Date(now.getTime() - (1000 - n) * 1000);
      await sql`insert into run_queue (organization_id, run_id, detection_id, kind, due_at, start_at)
        values (${orgId}, ${uuidv7()}, ${id}, 'schedule', ${at}, ${at})`.execute(tx);
    });
  }
  return orgId;
}
const claim = (limit: number, places: Places) => claimRunsAcrossOrgs(db, now, limit, places);
const finish = (done: Claim[]) =>
  acrossOrgs(db, (tx) =>
    sql`delete from run_queue where run_id = any(${done.map(({ runId }) => runId)}::uuid[])`.execute(tx),
  );
const empty = () => acrossOrgs(db, (tx) => sql`delete from run_queue`.execute(tx));
const running = () =>
  acrossOrgs(db, (tx) =>
    rows(
      tx,
      sql<{
        alias: string | null;
        org: OrgId;
        n: number;
      }>`select model_alias as alias, organization_id as org, count(*)::int as n
        from run_queue where state = 'running' group by 1, 2`,
    ),
  );
const sumOf = (found: { n: number }[]): number => found.reduce((sum, { n }) => sum + n, 0);

test('a slow model with 500 queued runs stops no run that needs none, in its own organization either', async () => {
  const orgId = await queue([...Array.from({ length: 500 }, () => 'slow'), 'analyst', 'default', 'analyst']);
  const other = await queue(['slow', 'analyst']);
  const places = { slow: 100, quick: 5 };
  const seen: Claim[] = [];
  for (let turn = 0; turn < 20; turn += 1) {
    const claims = await claim(8, places);
    seen.push(...claims);
    // Runs with the model never come to an end.
    await finish(claims.filter(({ modelAlias }) => modelAlias !== 'slow'));
  }
  expect(seen.filter(({ orgId: of, modelAlias }) => of === orgId && modelAlias !== 'slow')).toHaveLength(3);
  expect(seen.filter(({ orgId: of }) => of === other)).toHaveLength(2);
  expect(await running()).toEqual(
    expect.arrayContaining([
      { alias: 'slow', org: orgId, n: 7 },
      { alias: 'slow', org: other, n: 1 },
    ]),
  );
  await empty();
});

test('a model without a place is passed by, and a worker that keeps its last place free takes none', async () => {
  await queue(['slow', 'slow', 'analyst']);
  expect((await claim(8, { slow: 1 })).map(({ modelAlias }) => modelAlias)).toEqual(['slow', null]);
  expect(await claim(8, { slow: 1 })).toEqual([]);
  expect(await claim(8, { slow: 0 })).toEqual([]);
  expect(await claim(8, { slow: 2 })).toHaveLength(1);
  await empty();
});

test('claimers that are far from the database wait for one another no longer than it works', async () => {
  const far = openDb((await bridgeTo(url, 100)).href, 4);
  const claimBy = async (claimers: number): Promise<{ claims: Claim[]; ms: number }> => {
    const began = performance.now();
    const each = Array.from({ length: claimers }, () => claimRunsAcrossOrgs(far, now, 1, { slow: 100 }));
    return { claims: (await Promise.all(each)).flat(), ms: performance.now() - began };
  };
  await claimBy(4);
  for (let n = 0; n < 8; n += 1) await queue(['slow', 'slow']);
  const alone = await claimBy(1);
  const together = await claimBy(4);
  // Were the lock held over a way there and back, the last of four would be done after five times the time of one.
  expect(together.ms / alone.ms).toBeLessThan(3);
  expect(together.claims.length).toBeGreaterThan(0);
  await far.destroy();
  await empty();
});

test('whatever is queued and however claimers race: no model beyond its places, no lane beyond its own, and nobody starves', async () => {
  const alias = fc.constantFrom('slow', 'quick', 'analyst', 'default');
  const lane = fc.record({
    aliases: fc.array(alias, { minLength: 1, maxLength: 8 }),
    cap: fc.integer({ min: 1, max: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(lane, { minLength: 1, maxLength: 3 }),
      fc.record({ slow: fc.integer({ min: 1, max: 3 }), quick: fc.integer({ min: 1, max: 3 }) }),
      async (lanes, places: Record<string, number>) => {
        const caps = new Map<OrgId, number>();
        for (const { aliases, cap } of lanes) caps.set(await queue(aliases, cap), cap);
        let left = lanes.flatMap(({ aliases }) => aliases).length;
        for (let turn = 0; left > 0; turn += 1) {
          expect(turn).toBeLessThan(100);
          const claims = (await Promise.all([1, 2, 3].map((limit) => claim(limit, places)))).flat();
          const now = await running();
          for (const [name, most] of Object.entries(places))
            expect(sumOf(now.filter(({ alias }) => alias === name))).toBeLessThanOrEqual(most);
          for (const [org, cap] of caps) {
            expect(sumOf(now.filter((one) => one.org === org))).toBeLessThanOrEqual(cap);
            const withModel = now.filter((one) => one.org === org && (one.alias ?? '') in places);
            expect(sumOf(withModel)).toBeLessThanOrEqual(Math.max(cap - 1, 1));
          }
          left -= claims.length;
          await finish(claims);
        }
        await empty();
      },
    ),
    { numRuns: 12 },
  );
});
