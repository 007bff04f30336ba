import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { expect, test } from 'vitest';
import { copyFromSql, listTables, readTable } from '../../src/app/backup/tables.ts';
import type { Table } from '../../src/app/backup/manifest.ts';
import { claimLogStore } from '../../src/detection/logs/storage/log-store.ts';
import {
  applyMigration,
  listAppliedMigrations,
  listMigrations,
  migrate,
  withSchemaLock,
} from '../../src/platform/db/migrate.ts';
import { createCaller } from '../support/api-client.ts';
import { newEmptyDatabase, testDatabase } from '../support/database.ts';
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

/** Creates a database with the first `migrations` migrations only, filled with the rows of the source. Returns its tables. */
async function createOldDatabase(url: string, migrations: number): Promise<Table[]> {
  return withSchemaLock(url, async (client) => {
    await listAppliedMigrations(client);
    for (const name of listMigrations().slice(0, migrations)) await applyMigration(client, name);
    const tables = await listTables(client);
    const filled = new pg.Client(source.url);
    await filled.connect();
    for (const table of tables) {
      const quoted = pg.escapeIdentifier(table.name);
      await client.query(`truncate ${quoted} cascade`);
      await client.query(
        `alter table ${quoted} disable trigger user; alter table ${quoted} no force row level security`,
      );
      await pipeline(readTable(filled, table), client.query(copyFrom(copyFromSql(table))));
      await client.query(`alter table ${quoted} enable trigger user; alter table ${quoted} force row level security`);
    }
    await filled.end();
    return tables;
  });
}

const hashOf = ({ name, columns }: Table): string =>
  `select '${name}' as name, count(*)::int as rows, md5(string_agg(t::text, ' ' order by t::text))
     from (select ${columns.map((column) => pg.escapeIdentifier(column)).join(', ')} from ${pg.escapeIdentifier(name)}) t`;
const hashesOf = (url: string, tables: Table[]): Promise<unknown> =>
  runStatements(url, 'set timezone = utc', `${tables.map(hashOf).join(' union all ')} order by name`);

test.each(
  listMigrations()
    .slice(oldest - 1, -1)
    .map((name, index) => [name, oldest + index] as const),
)('a database that ends with %s keeps every row', async (_, migrations) => {
  const url = await newEmptyDatabase();
  const tables = await createOldDatabase(url, migrations);
  // Not the rows of the source: it is running and still counts its requests.
  const before = await hashesOf(url, tables);
  expect(await migrate(url)).toEqual(listMigrations().slice(migrations));
  expect(await hashesOf(url, tables)).toEqual(before);
});

test('the service starts on an older database, migrates it and reads what it had', async () => {
  const url = await newEmptyDatabase();
  await createOldDatabase(url, oldest);
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

test('an older version refuses the database of a newer one, and doctor says so', async () => {
  const { url } = await testDatabase();
  await runStatements(url, "insert into migrations (name, sha256) values ('9999_of_tomorrow.sql', '')");
  for (const command of [['serve'], ['doctor']]) {
    const { code, stdout, stderr } = await runProgram(command, source.dataDir, env(url));
    expect([code, stdout + stderr]).toEqual([1, expect.stringMatching(/newer version \(9999.*restore the backup/)]);
  }
});
