import { execFileSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { expect, test } from 'vitest';
import { type Table, copyFromSql, listTables, readTable } from '../../src/app/backup/manifest.ts';
import { claimLogStore } from '../../src/detection/log-store/log-store.ts';
import { listMigrations, migrate, readMigrations } from '../../src/platform/db/migrate.ts';
import { createCaller } from '../support/api-client.ts';
import { newEmptyDatabase, testDatabase } from '../support/database.ts';
import { newDataDir, startApp } from '../support/harness.ts';
import { findLastRelease, folderWithMigration } from '../support/migration-folders.ts';
import { root, startProgram } from '../support/program.ts';
import { runCommand } from '../support/run-command.ts';
import { runStatements } from '../support/run-statements.ts';
import { fillOrganization } from '../support/walk/fill-organization.ts';

const shipped = join(root, 'migrations');
const release = findLastRelease();
/**
 * The upgrade that is tested: from the last release to this version. Before the first release, from this version to a later one that has a
 * migration more.
 */
const [from, to] = release
  ? [release.folder, shipped]
  : [shipped, folderWithMigration('9998_of_tomorrow.sql', 'alter table items add column later text default 1;')];

const publicUrl = 'https://tocsin.example.com';
const source = await startApp({ env: { TOCSIN_FETCH_ALLOW: '127.0.0.1', TOCSIN_PUBLIC_URL: publicUrl } });
await claimLogStore(source.deps.db, source.deps.segmentStore, { adopt: false });
const org = await source.newOrg();
await fillOrganization(source.deps, org);
const env = (url: string): Record<string, string> => ({
  DATABASE_URL: url,
  TOCSIN_DATA_DIR: source.dataDir,
  TOCSIN_PUBLIC_URL: publicUrl,
});

const command = (words: string, url: string) => runCommand(words.split(' '), env(url));

/** Returns those of the tables that the source has, with the columns that it has. */
async function intersect(tables: Table[], client: pg.Client): Promise<Table[]> {
  const present = new Map((await listTables(client)).map(({ name, columns }) => [name, columns]));
  return tables
    .filter(({ name }) => present.has(name))
    .map((table) => ({
      ...table,
      columns: table.columns.filter((column) => present.get(table.name)!.includes(column)),
    }));
}

/** Creates a database of the version that is upgraded, filled with the rows of the source. Returns its URL and its tables. */
async function createOldDatabase(): Promise<{ url: string; tables: Table[] }> {
  const url = await newEmptyDatabase();
  await migrate(url, from);
  const [client, filled] = [new pg.Client(url), new pg.Client(source.url)];
  await Promise.all([client.connect(), filled.connect()]);
  const tables = await intersect(await listTables(client), filled);
  const quoted = tables.map(({ name }) => pg.escapeIdentifier(name));
  await client.query(`truncate ${quoted.join()} cascade`);
  const alter = (change: string): string => quoted.map((name) => `alter table ${name} ${change}`).join(';');
  await client.query(alter('disable trigger user, no force row level security'));
  for (const table of tables) await pipeline(readTable(filled, table), client.query(copyFrom(copyFromSql(table))));
  await client.query(alter('enable trigger user, force row level security'));
  await Promise.all([client.end(), filled.end()]);
  return { url, tables };
}

const hashOf = ({ name, columns }: Table): string =>
  `select '${name}' as name, count(*)::int as rows, md5(string_agg(t::text, ' ' order by t::text))
     from (select ${columns.map((column) => pg.escapeIdentifier(column)).join(', ')} from ${pg.escapeIdentifier(name)}) t`;
const hashesOf = (url: string, tables: Table[]): Promise<unknown> =>
  runStatements(url, 'set timezone = utc', `${tables.map(hashOf).join(' union all ')} order by name`);

test.skipIf(!release)(`the migrations of ${release?.tag ?? 'the last release'} are unchanged`, () => {
  const current = new Map(readMigrations().map(({ name, sha256 }) => [name, sha256]));
  const changed = readMigrations(from).filter(({ name, sha256 }) => current.get(name) !== sha256);
  expect(
    changed,
    'Released migrations are append-only. Restore these files, and put the change into a new one.',
  ).toEqual([]);
});

test(`a database of ${release?.tag ?? 'this version'} keeps every row`, async () => {
  const { url, tables } = await createOldDatabase();
  // Not the rows of the source: it is running and still counts its requests.
  const before = await hashesOf(url, tables);
  expect(await migrate(url, to)).toEqual(listMigrations(to).slice(listMigrations(from).length));
  expect(await hashesOf(url, tables)).toEqual(before);
});

test(`the service starts on a database of ${release?.tag ?? 'this version'} and reads what it had`, async () => {
  const { url } = await createOldDatabase();
  const program = await startProgram(source.dataDir, env(url), 'serve');
  const isMigrated = listMigrations(from).length < listMigrations().length;
  expect(/Database migrated: \d+ migrations? applied/.test(program.output())).toBe(isMigrated);
  const call = createCaller(program.url, org.key);
  for (const path of ['/api/detections', '/api/hits', '/items', '/stats'])
    expect(await call('GET', path), path).toEqual((await org.call('GET', path)).body);
  const detection = {
    name: 'After the upgrade',
    detectionCategory: 'custom',
    systemPrompt: 'p',
    detectionQuery: 'SELECT 1',
  };
  expect(await call('POST', '/api/detections', detection)).toHaveProperty('id');
  expect(await program.kill('SIGTERM')).toBe(0);
  expect(await command('audit verify', url)).toMatchObject({ code: 0 });
});

test('finds the migrations of the newest tag before the current commit', () => {
  const repository = newDataDir();
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
      cwd: repository,
      encoding: 'utf8',
    });
  const commit = (tag: string): void => {
    git('add', '--all');
    git('commit', '--quiet', '--message', tag);
    git('tag', tag);
  };
  git('init', '--quiet');
  expect(findLastRelease(repository)).toBeUndefined();
  cpSync(shipped, join(repository, 'migrations'), { recursive: true });
  commit('v0.9.0');
  expect(findLastRelease(repository)).toBeUndefined();
  writeFileSync(join(repository, 'migrations/9998_of_tomorrow.sql'), 'select 1;');
  commit('v0.10.0');
  expect(findLastRelease(repository)?.tag).toBe('v0.9.0');
  writeFileSync(join(repository, 'migrations/9999_later.sql'), 'select 1;');
  commit('untagged');
  const found = findLastRelease(repository)!;
  expect(found.tag).toBe('v0.10.0');
  expect(listMigrations(found.folder)).toEqual([...listMigrations(), '9998_of_tomorrow.sql']);
  expect(readMigrations(found.folder).slice(0, -1)).toEqual(readMigrations());
});

test.each([
  [
    'of a newer version',
    "insert into migrations (name, sha256) values ('9999_of_tomorrow.sql', '')",
    /newer version \(9999.*restore the backup/,
  ],
  [
    'of a development version',
    "update migrations set sha256 = 'other' where name like '0001%'",
    /created by a development version.*Create a new database/,
  ],
])('a start and migrate refuse a database %s, and doctor says so', async (_, change, message) => {
  const { url } = await testDatabase();
  await runStatements(url, change);
  for (const words of ['serve', 'migrate', 'doctor', 'org list'])
    expect([words, await command(words, url)]).toEqual([words, { code: 1, out: expect.stringMatching(message) }]);
});
