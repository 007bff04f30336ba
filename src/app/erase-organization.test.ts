import { existsSync, readdirSync } from 'node:fs';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { callOk } from '../../test/support/detection/detection-factory.ts';
import { startApp, type TestOrg } from '../../test/support/harness.ts';
import { runCommand } from '../../test/support/run-command.ts';
import { selectIn } from '../../test/support/select-rows.ts';
import { fillOrganization } from '../../test/support/walk/fill-organization.ts';
import { acrossOrgs, type Tx } from '../platform/db/db.ts';
import { lockOrgAcrossOrgs } from '../platform/orgs/orgs.store.ts';
import { resumeOrganization, suspendOrganization } from '../platform/orgs/organization.ts';
import { eraseOrganization, readErasure, requestErasure } from './erase-organization.ts';
import { addUsageAcrossOrgs } from './usage/usage.store.ts';

const { deps, newOrg, url, dataDir } = await startApp({ env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' } });
const operator = 'an operator';
const request = (org: TestOrg) => requestErasure(deps.db, org, operator);

// Independent of the code under test.
const tables = await selectIn(deps.db)<{ name: string; owner: string }>`
  select c.relname as name, min(a.attname) as owner from pg_class c join pg_attribute a on a.attrelid = c.oid
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and a.attname in ('organization_id', 'pool_id')
  group by 1 order by 1`;

async function countRows({ id }: TestOrg): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { name, owner } of tables) {
    const own =
      owner === 'organization_id' ? sql`${id}` : sql`any (select id from feed_pools where organization_id = ${id})`;
    const [row] = await selectIn(deps.db)<{
      n: number;
    }>`select count(*)::int as n from ${sql.table(name)} where ${sql.ref(owner)} = ${own}`;
    if (row!.n > 0) counts[name] = row!.n;
  }
  return counts;
}

test('the tables that belong to nobody are known', async () => {
  const others = await selectIn(deps.db)<{ name: string }>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`;
  expect(others.map(({ name }) => name).filter((name) => !tables.some((table) => table.name === name))).toEqual([
    'feed_key',
    'log_store',
    'migrations',
    'model_abilities',
    'organization_erasure_files',
    'organization_erasures',
    'organizations',
  ]);
});

test('erases everything of one organization, also after an interruption, and leaves a record that counts it', async () => {
  const [org, other] = [await newOrg(), await newOrg()];
  for (const one of [org, other]) await fillOrganization(deps, one);
  for (const dataset of ['auth', 'dns']) await org.call('POST', `/api/logs/${dataset}`, '{"user":"ada"}');
  await expect(request(org)).rejects.toThrow('Suspend the organization');
  await suspendOrganization(deps.db, org, operator);
  const [before, kept] = [await countRows(org), await countRows(other)];
  const [chain] = await selectIn(deps.db, org.id)<{
    hash: Buffer;
    sequence: number;
  }>`select hash, sequence from audit_chains`;
  const folder = deps.segmentStore.folderOf(org.id);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files.length).toBeGreaterThan(0);
  expect(await request(org)).toMatchObject({ id: org.id, name: org.name, finishedAt: null, rows: {} });

  let removals = 0;
  const failing = {
    ...deps.segmentStore,
    remove(id: string, path: string) {
      removals += 1;
      if (removals > 1) throw new Error('the storage is away');
      return deps.segmentStore.remove(id, path);
    },
  };
  await expect(eraseOrganization({ db: deps.db, segmentStore: failing }, org.id)).rejects.toThrow(
    'the storage is away',
  );
  expect([removals, files.length > 1]).toEqual([2, true]);
  expect(await readErasure(deps.db, org.id)).toMatchObject({ failures: 1, error: 'the storage is away' });
  const erasure = await eraseOrganization(deps, org.id);
  // Deleting may add rows that were not there before.
  for (const [name, n] of Object.entries(before)) expect([name, erasure.rows[name]! >= n]).toEqual([name, true]);
  expect(erasure).toMatchObject({
    requestedBy: operator,
    suspendedAt: expect.any(String),
    suspendedBy: operator,
    finishedAt: expect.any(String),
    failures: 1,
    error: null,
    files: files.length,
    auditSequence: chain!.sequence,
    auditHash: chain!.hash.toString('hex'),
  });
  expect(await countRows(org)).toEqual({});
  expect(existsSync(folder)).toBe(false);
  expect(await countRows(other)).toEqual(kept);
  expect(await selectIn(deps.db)`select id from organizations where id = ${org.id}`).toEqual([]);
  expect((await other.call('GET', '/items')).body.total).toBeGreaterThan(0);
});

test('erases a row that another process adds during the erasure, and counts no usage of an organization that is gone', async () => {
  const [org, other] = [await newOrg(), await newOrg()];
  await suspendOrganization(deps.db, org, operator);
  await request(org);
  const count = (tx: Tx) =>
    addUsageAcrossOrgs(
      tx,
      [org, other].map(({ id }) => ({
        orgId: id,
        day: '2026-03-02',
        requests: 1,
        refusedRequests: 0,
        queryMs: 0,
        feedItems: 0,
      })),
    );
  const [added, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const adding = acrossOrgs(deps.db, async (tx) => {
    await count(tx);
    added.resolve();
    await released.promise;
  });
  await added.promise;
  const erasing = eraseOrganization(deps, org.id);
  await expect.poll(() => countLockWaits()).toBeGreaterThan(0);
  const late = acrossOrgs(deps.db, count);
  released.resolve();
  await adding;
  const erasure = await erasing;
  expect(erasure).toMatchObject({ failures: 0, error: null });
  // A second row if the late count came between two looks of the erasure.
  expect([1, 2]).toContain(erasure!.rows['usage_days']);
  await late;
  expect(await countRows(org)).toEqual({});
  const days = await selectIn(deps.db, other.id)<{ requests: number }>`select requests from usage_days`;
  expect(days.map(({ requests }) => Number(requests))).toEqual([2]);
});

/** Returns how many transactions of the server wait for a lock. */
async function countLockWaits(): Promise<number> {
  const [row] = await selectIn(deps.db)<{ n: number }>`select count(*)::int as n from pg_locks where not granted`;
  return row!.n;
}

test('an organization that is being deleted cannot be resumed, also if both are requested together', async () => {
  const org = await newOrg();
  await suspendOrganization(deps.db, org, operator);
  const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const blocker = acrossOrgs(deps.db, async (tx) => {
    await lockOrgAcrossOrgs(tx, org);
    locked.resolve();
    await released.promise;
  });
  await locked.promise;
  const both = Promise.allSettled([request(org), resumeOrganization(deps.db, org, operator)]);
  const listWaiting = () => selectIn(deps.db)`
    select from pg_locks join pg_stat_activity using (pid) where not granted and datname = current_database()`;
  await expect.poll(listWaiting).toHaveLength(2);
  released.resolve();
  await blocker;
  expect((await both).map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);

  await suspendOrganization(deps.db, org, operator);
  await request(org);
  await expect(resumeOrganization(deps.db, org, operator)).rejects.toThrow('is being deleted');
});

test('refuses the default organization and one that shares with others', async () => {
  const org = await newOrg();
  await callOk(org, 'POST', '/api/feed/sources', {
    kind: 'rss',
    name: 'S',
    url: 'https://blog.example/f.xml',
    visibility: 'shared',
  });
  await suspendOrganization(deps.db, org, operator);
  await expect(request(org)).rejects.toThrow('that others see');
});

test('tocsin org delete needs the name twice, and prints what was erased', async () => {
  const org = await newOrg();
  await org.call('POST', '/api/logs/auth', '{"user":"ada"}');
  const command = (...args: string[]) =>
    runCommand(['org', ...args], { DATABASE_URL: url, TOCSIN_DATA_DIR: dataDir, TOCSIN_LOG_LEVEL: 'silent' });
  expect(await command('delete', org.name, '--confirm', 'other')).toMatchObject({ code: 2 });
  expect((await command('delete', org.name, '--confirm', org.name)).out).toContain('Suspend the organization');
  await command('suspend', org.name);
  const { code, out } = await command('delete', org.name, '--confirm', org.name);
  expect([code, out]).toEqual([
    0,
    expect.stringMatching(
      /and 1 log files \(\d+ bytes\) erased, requested by tocsin org delete on .*, nothing left since /,
    ),
  ]);
  expect((await command('erasures')).out).toContain(org.id);
});
