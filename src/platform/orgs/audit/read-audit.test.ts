import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { testDatabase, newOrgId } from '../../../../test/support/database.ts';
import { runCommand } from '../../../../test/support/run-command.ts';
import { acrossOrgs, inOrg, type Tx } from '../../db/db.ts';
import type { OrgId } from '../../lib/org-id.ts';
import { insertAudit } from '../audit.store.ts';
import { expireAuditAcrossOrgs } from './audit-chain.store.ts';
import { verifyAudit, type KnownHead } from './read-audit.ts';

const { db, url } = await testDatabase();

async function record(tx: Tx, orgId: OrgId, name: string): Promise<void> {
  const change = { action: 'thing.changed', resourceType: 'thing', resourceId: name, before: null };
  await insertAudit(tx, { orgId, keyId: 'k', subject: 'zoë' }, { ...change, after: { name, text: '“ü”\n' } });
}

/** Creates an organization with entries called e1, e2 and so on. */
async function newChain(count: number): Promise<OrgId> {
  const orgId = await newOrgId(db);
  await inOrg(db, orgId, async (tx) => {
    for (let n = 1; n <= count; n += 1) await record(tx, orgId, `e${n}`);
  });
  return orgId;
}

const tamper = (statement: ReturnType<typeof sql>): Promise<unknown> => acrossOrgs(db, (tx) => statement.execute(tx));

async function faultsOf(orgId: OrgId, known?: KnownHead): Promise<string[]> {
  const { faults } = await verifyAudit(db, orgId, known);
  return faults.map(({ sequence, problem }) => `${sequence}: ${problem}`);
}

test('concurrent transactions of an organization make one chain without gaps', async () => {
  const orgId = await newOrgId(db);
  await Promise.all(Array.from({ length: 40 }, (_, n) => inOrg(db, orgId, (tx) => record(tx, orgId, `c${n}`))));
  const rolledBack = inOrg(db, orgId, async (tx) => {
    await record(tx, orgId, 'never');
    throw new Error('no');
  });
  await expect(rolledBack).rejects.toThrow('no');
  expect(await verifyAudit(db, orgId)).toMatchObject({ entries: 40, head: { sequence: 40 }, faults: [] });
});

const changed = 'The entry was changed, moved or replaced.';
const cases: [change: string, tamperWith: (org: OrgId) => ReturnType<typeof sql>, expected: string[]][] = [
  [
    'the text of an entry',
    (org) => sql`update audit set after = '{}' where organization_id = ${org} and resource_id = 'e3'`,
    [`3: ${changed}`],
  ],
  [
    'the time of an entry by a microsecond',
    (org) => sql`update audit set at = at + interval '1 us' where organization_id = ${org} and resource_id = 'e3'`,
    [`3: ${changed}`],
  ],
  [
    'the author of an entry to none',
    (org) => sql`update audit set actor = null where organization_id = ${org} and resource_id = 'e1'`,
    [`1: ${changed}`],
  ],
  [
    'the hash of an entry to none',
    (org) => sql`update audit set hash = null where organization_id = ${org} and resource_id = 'e3'`,
    [`3: ${changed}`, `4: ${changed}`],
  ],
  [
    'two entries by deletion',
    (org) => sql`delete from audit where organization_id = ${org} and resource_id in ('e2', 'e3')`,
    ['2: The entries 2 to 3 are missing.'],
  ],
  [
    'the newest entry by deletion',
    (org) => sql`delete from audit where organization_id = ${org} and resource_id = 'e5'`,
    ['5: The entry is missing.'],
  ],
  [
    'the order of two entries',
    (org) =>
      sql`update audit set sequence = case sequence when 2 then 4 else 2 end where organization_id = ${org} and sequence in (2, 4)`,
    [`2: ${changed}`, `3: ${changed}`, `4: ${changed}`, `5: ${changed}`],
  ],
  [
    'the place of an entry to that of another',
    (org) => sql`update audit set sequence = 4 where organization_id = ${org} and sequence = 5`,
    ['4: The entry has the place of another one.', '5: The entry is missing.'],
  ],
  [
    'an entry to one beyond the end',
    (org) => sql`update audit set sequence = 9 where organization_id = ${org} and sequence = 5`,
    ['5: The entry is missing.', 'null: The entry is not part of the chain.'],
  ],
  [
    'the log by deletion up to an entry, as retention would',
    (
      org,
    ) => sql`with gone as (delete from audit where organization_id = ${org} and sequence < 4 returning sequence, hash)
      update audit_chains set expired_through = 3, expired_hash = (select hash from gone where sequence = 3) where organization_id = ${org}`,
    ['3: No entry records that retention deleted it.'],
  ],
];

test.each(cases)('finds who changes %s', async (_change, tamperWith, expected) => {
  const orgId = await newChain(5);
  expect(await faultsOf(orgId)).toEqual([]);
  await tamper(tamperWith(orgId));
  expect(await faultsOf(orgId)).toEqual(expected);
});

test('finds a rewritten chain by a head that was noted before', async () => {
  const orgId = await newChain(3);
  const { head } = await verifyAudit(db, orgId);
  await inOrg(db, orgId, (tx) => record(tx, orgId, 'later'));
  expect(await faultsOf(orgId, head)).toEqual([]);
  // With access to the database, one can start again and let the database compute the hashes.
  await tamper(sql`delete from audit where organization_id = ${orgId}`);
  await tamper(sql`delete from audit_chains where organization_id = ${orgId}`);
  await inOrg(db, orgId, async (tx) => {
    for (const name of ['e1', 'e2']) await record(tx, orgId, name);
  });
  expect(await faultsOf(orgId)).toEqual([]);
  expect(await faultsOf(orgId, head)).toEqual(['3: The chain ends before the entry that was noted.']);
  await inOrg(db, orgId, (tx) => record(tx, orgId, 'e3'));
  expect(await faultsOf(orgId, head)).toEqual(['3: The entry does not have the hash that was noted.']);
});

test('continues from the last entry that retention deleted', async () => {
  const orgId = await newChain(6);
  const later = new Date(Date.now() + 60_000);
  const expire = (limit: number) =>
    acrossOrgs(db, async (tx) => {
      // Only this organization has old entries.
      await sql`update audit_chains set expired_through = -1 where organization_id <> ${orgId}`.execute(tx);
      return expireAuditAcrossOrgs(tx, later, limit);
    });
  expect([await expire(4), (await verifyAudit(db, orgId)).faults]).toEqual([4, []]);
  expect(await verifyAudit(db, orgId)).toMatchObject({ entries: 3, expiredThrough: 4, head: { sequence: 7 } });
  expect([await expire(4), await faultsOf(orgId)]).toEqual([3, []]);
  await tamper(sql`update audit set after = '{"through":1}' where organization_id = ${orgId}`);
  expect(await faultsOf(orgId)).toEqual([`8: ${changed}`, '7: No entry records that retention deleted it.']);
});

test('tocsin audit verify prints every organization, and exits with 1 if a log is broken', async () => {
  const env = { DATABASE_URL: url, TOCSIN_LOG_LEVEL: 'silent' };
  const orgId = await newChain(2);
  await tamper(sql`update organizations set name = 'verified' where id = ${orgId}`);
  const intact = await runCommand(['audit', 'verify', '--org', 'verified'], env);
  expect(intact).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^verified {2}intact {2}2 entries {2}head 2:\w{64}$/m),
  });
  const head = /head (\S+)/.exec(intact.out)![1]!;
  expect((await runCommand(['audit', 'verify', '--org', 'verified', '--head', head], env)).code).toBe(0);
  await tamper(sql`update audit set action = 'thing.read' where organization_id = ${orgId} and sequence = 1`);
  const all = await runCommand(['audit', 'verify', '--json'], env);
  const results = JSON.parse(all.out) as { organization: string; faults: object[] }[];
  const broken = results.find(({ organization }) => organization === 'verified');
  expect([all.code, broken?.faults]).toEqual([1, [{ sequence: 1, id: expect.any(String), problem: changed }]]);
  expect((await runCommand(['audit', 'verify', '--head', '1:x', '--org', 'verified'], env)).code).toBe(2);
});
