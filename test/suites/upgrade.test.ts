import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { expect, test } from 'vitest';
import { copyFromSql, listTables, readTable } from '../../src/app/backup/tables.ts';
import type { Table } from '../../src/app/backup/manifest.ts';
import { claimLogStore } from '../../src/detection/log-store/log-store.ts';
import {
  applyMigration,
  listAppliedMigrations,
  listMigrations,
  migrate,
  withSchemaLock,
} from '../../src/platform/db/migrate.ts';
import { createCaller } from '../support/api-client.ts';
import { cloneDatabase, newEmptyDatabase, testDatabase } from '../support/database.ts';
import { startApp } from '../support/harness.ts';
import { runProgram, startProgram } from '../support/program.ts';
import { runStatements } from '../support/run-statements.ts';
import { fillOrganization } from '../support/walk/fill-organization.ts';

/** The feed, logs and detections exist since then. */
const oldest = listMigrations().findIndex((name) => name.startsWith('0012')) + 1;

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

/** Has the migrations of the latest old database, so that the next one needs only those between the two. */
const base = await newEmptyDatabase();
const copies = new Map<string, Buffer[]>();

/** Returns the rows of a table of the source, as COPY writes them. */
async function readSource(client: pg.Client, table: Table): Promise<Buffer[]> {
  const key = [table.name, ...table.columns].join(' ');
  const rows = copies.get(key) ?? (await Array.fromAsync(readTable(client, table)));
  copies.set(key, rows);
  return rows;
}

/**
 * Creates a database with the first `migrations` migrations only, filled with the rows of the source. `migrations` may not fall from one call
 * to the next. Returns its URL and its tables.
 */
async function createOldDatabase(migrations: number): Promise<{ url: string; tables: Table[] }> {
  await withSchemaLock(base, async (client) => {
    const applied = (await listAppliedMigrations(client)).length;
    for (const name of listMigrations().slice(applied, migrations)) await applyMigration(client, name);
  });
  const url = await cloneDatabase(base);
  const [client, filled] = [new pg.Client(url), new pg.Client(source.url)];
  await Promise.all([client.connect(), filled.connect()]);
  const tables = await listTables(client);
  const quoted = tables.map(({ name }) => pg.escapeIdentifier(name));
  await client.query(`truncate ${quoted.join()} cascade`);
  await client.query(
    quoted.map((name) => `alter table ${name} disable trigger user, no force row level security`).join(';'),
  );
  for (const table of tables)
    await pipeline(await readSource(filled, table), client.query(copyFrom(copyFromSql(table))));
  await client.query(
    quoted.map((name) => `alter table ${name} enable trigger user, force row level security`).join(';'),
  );
  await Promise.all([client.end(), filled.end()]);
  return { url, tables };
}

const hashOf = ({ name, columns }: Table): string =>
  `select '${name}' as name, count(*)::int as rows, md5(string_agg(t::text, ' ' order by t::text))
     from (select ${columns.map((column) => pg.escapeIdentifier(column)).join(', ')} from ${pg.escapeIdentifier(name)}) t`;
const hashesOf = (url: string, tables: Table[]): Promise<unknown> =>
  runStatements(url, 'set timezone = utc', `${tables.map(hashOf).join(' union all ')} order by name`);

test('the service starts on an older database, migrates it and reads what it had', async () => {
  const { url } = await createOldDatabase(oldest);
  const program = await startProgram(source.dataDir, env(url), 'serve');
  expect(program.output()).toMatch(/Database migrated: \d+ migrations applied/);
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
  expect(await runProgram(['audit', 'verify'], source.dataDir, env(url))).toMatchObject({ code: 0 });
});

test.each(
  listMigrations()
    .slice(oldest - 1, -1)
    .map((name, index) => [name, oldest + index] as const),
)('a database that ends with %s keeps every row', async (_, migrations) => {
  const { url, tables } = await createOldDatabase(migrations);
  // Not the rows of the source: it is running and still counts its requests.
  const before = await hashesOf(url, tables);
  expect(await migrate(url)).toEqual(listMigrations().slice(migrations));
  expect(await hashesOf(url, tables)).toEqual(before);
});

test('an older version refuses the database of a newer one, and doctor says so', async () => {
  const { url } = await testDatabase();
  await runStatements(url, "insert into migrations (name, sha256) values ('9999_of_tomorrow.sql', '')");
  for (const command of [['serve'], ['doctor']]) {
    const { code, stdout, stderr } = await runProgram(command, source.dataDir, env(url));
    expect([code, stdout + stderr]).toEqual([1, expect.stringMatching(/newer version \(9999.*restore the backup/)]);
  }
});
