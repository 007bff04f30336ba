import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { runStatements } from '../support/run-statements.ts';
import { loadConfig } from '../../src/config.ts';
import { listMigrations, migrate } from '../../src/platform/db/migrate.ts';
import { renderSchema, schemaFile } from '../../scripts/schema.ts';
import { folderWithMigration } from '../support/migration-folders.ts';

const server = new URL(inject('databaseUrl'));
const made: string[] = [];

/** Creates an empty database for one test. */
async function emptyDatabase(): Promise<string> {
  const name = `migrations_${randomBytes(6).toString('hex')}`;
  await onServer(`create database "${name}"`);
  made.push(name);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

async function onServer(statement: string): Promise<void> {
  const url = new URL(server);
  url.pathname = '/postgres';
  await query(url.href, statement);
}

async function query<T extends pg.QueryResultRow>(url: string, statement: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<T>(statement)).rows;
  } finally {
    await client.end();
  }
}

afterAll(async () => {
  for (const name of made) await onServer(`drop database if exists "${name}" with (force)`);
});

let migrated = '';
beforeAll(async () => {
  migrated = await emptyDatabase();
});

test('applies all migrations to an empty database, and none the second time', async () => {
  expect(await migrate(migrated)).toEqual(listMigrations());
  expect(await migrate(migrated)).toEqual([]);
});

/** Creates a role that is no superuser, and a database that it owns. Returns the URL of the database as that role. */
async function databaseOfRole(options: string, ...grants: string[]): Promise<URL> {
  const url = new URL(await emptyDatabase());
  const role = `owner_${randomBytes(6).toString('hex')}`;
  await onServer(`create role ${role} login password 'x' ${options}`);
  for (const grant of grants) await onServer(grant.replace('ROLE', role));
  // The creator of a role needs to be a member of it to change owners.
  await onServer(`grant ${role} to current_user`);
  await onServer(`alter database "${url.pathname.slice(1)}" owner to ${role}`);
  [url.username, url.password] = [role, 'x'];
  return url;
}

test.each([
  ['that is a member of the two roles', '', ['grant tocsin_app, tocsin_system to ROLE']],
  ['that does not inherit the rights of the two roles', 'noinherit', ['grant tocsin_app, tocsin_system to ROLE']],
])('an owner of the database %s migrates it, with the rows that it has', async (_, options, grants) => {
  const url = await databaseOfRole(options, ...grants);
  await migrate(url.href);
  await runStatements(
    url.href,
    'set role tocsin_system',
    `insert into feed_counts values ('00000000-0000-7000-8000-000000000001', 'high', 'active', '', '', '', 5)`,
  );
  const later = folderWithMigration('9998_of_tomorrow.sql', 'update feed_counts set roots = n;');
  expect(await migrate(url.href, later)).toEqual(['9998_of_tomorrow.sql']);
  const counts = await runStatements(url.href, 'set role tocsin_system', 'select n, roots from feed_counts');
  expect(counts).toEqual([{ n: 5, roots: 5 }]);
});

test('says what an administrator has to do for a role that may create nothing', async () => {
  const url = await databaseOfRole('');
  await expect(migrate(url.href)).rejects.toThrow('grant tocsin_app, tocsin_system to "owner_');
  const foreign = new URL(await emptyDatabase());
  [foreign.username, foreign.password] = [url.username, 'x'];
  await onServer(`grant tocsin_app, tocsin_system to ${url.username}`);
  await expect(migrate(foreign.href)).rejects.toThrow(`alter database "${foreign.pathname.slice(1)}" owner to`);
});

test('connects to a server whose folder or address is a parameter of the URL', async () => {
  const { username, password, hostname, port, pathname } = new URL(migrated);
  const host = decodeURIComponent(hostname);
  const parameters = new URLSearchParams({ host, port: port || '5432', user: username, password });
  const { databaseUrl } = loadConfig({ DATABASE_URL: `postgresql://${pathname}?${parameters}` });
  expect(await migrate(databaseUrl!)).toEqual([]);
});

test('concurrent runs apply each migration once', async () => {
  const url = await emptyDatabase();
  const applied = await Promise.all([1, 2, 3].map(() => migrate(url)));
  expect(applied.flat()).toEqual(listMigrations());
});

test('rejects a database of a newer version and leaves it unchanged', async () => {
  const url = await emptyDatabase();
  await migrate(url);
  await query(url, `delete from migrations where name = '${listMigrations().at(-1)}'`);
  await query(url, "insert into migrations (name, sha256) values ('9999_of_tomorrow.sql', '')");
  await expect(migrate(url)).rejects.toThrow('newer version (9999_of_tomorrow.sql)');
  expect(await query(url, `select 1 from migrations where name = '${listMigrations().at(-1)}'`)).toEqual([]);
});

test('migrations have unique numbers', () => {
  const numbers = listMigrations().map((name) => name.slice(0, 4));
  for (const number of numbers) expect(number).toMatch(/^\d{4}$/);
  expect(new Set(numbers).size).toBe(numbers.length);
});

test('schema.sql is the schema of a new database', async () => {
  const rendered = await renderSchema(migrated);
  expect(rendered === readFileSync(schemaFile, 'utf8'), 'Renew the file with: npm run schema').toBe(true);
});

type Wall = { name: string; enabled: boolean; forced: boolean; roles: string[] };

test('every table has row-level security enabled and forced, with a policy for each role', async () => {
  const tables = await query<Wall>(
    migrated,
    `select c.relname as name, c.relrowsecurity as enabled, c.relforcerowsecurity as forced,
       (select coalesce(array_agg(distinct r.rolname::text order by r.rolname::text), '{}') from pg_policy p, unnest(p.polroles) o join pg_roles r on r.oid = o where p.polrelid = c.oid) as roles
     from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> 'migrations' order by 1`,
  );
  expect(tables.length).toBeGreaterThan(20);
  expect(tables).toEqual(
    tables.map(({ name }) => ({
      name,
      enabled: true,
      forced: true,
      // Deleted organizations concern no other, and what models can do concerns none.
      roles: /^(organization_erasure|model_abilities)/.test(name) ? ['tocsin_system'] : ['tocsin_app', 'tocsin_system'],
    })),
  );
});

test('partitions can be accessed only through their parent', async () => {
  const open = await query(
    migrated,
    `select c.relname from pg_class c where c.relispartition and c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
       and (has_table_privilege('tocsin_app', c.oid, 'select, insert, update, delete') or has_table_privilege('tocsin_system', c.oid, 'select, insert, update, delete'))`,
  );
  expect(open).toEqual([]);
});

test('every partitioned table has its future months and a default partition', async () => {
  const tables = await query<{ name: string; last: string | null; fallback: boolean }>(
    migrated,
    `select p.relname as name, max(c.relname) filter (where c.relname ~ '_\\d{6}$') as last, bool_or(pg_get_expr(c.relpartbound, c.oid) = 'DEFAULT') as fallback
     from pg_partitioned_table t join pg_class p on p.oid = t.partrelid join pg_inherits i on i.inhparent = p.oid join pg_class c on c.oid = i.inhrelid
     group by 1 order by 1`,
  );
  expect(tables.map(({ name }) => name)).toEqual(expect.arrayContaining(['audit', 'outbox', 'run_steps', 'runs']));
  const now = new Date();
  const ahead = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 3, 1));
  const month = `${ahead.getUTCFullYear()}${String(ahead.getUTCMonth() + 1).padStart(2, '0')}`;
  for (const { name, last, fallback } of tables) {
    expect(fallback, name).toBe(true);
    expect(last?.slice(-6).localeCompare(month), `${name} ends with ${last}`).toBeGreaterThanOrEqual(0);
  }
});

test('foreign keys between tenant tables include the organization', async () => {
  const loose = await query<{ name: string }>(
    migrated,
    `select con.conrelid::regclass || ' → ' || con.confrelid::regclass as name from pg_constraint con
     where con.contype = 'f' and con.conparentid = 0
       and exists (select 1 from pg_attribute a where a.attrelid = con.conrelid and a.attname = 'organization_id')
       and exists (select 1 from pg_attribute a where a.attrelid = con.confrelid and a.attname = 'organization_id')
       and not exists (select 1 from pg_attribute a where a.attrelid = con.conrelid and a.attname = 'organization_id' and a.attnum = any (con.conkey))`,
  );
  // Feed tables are shared between organizations. Their rows reference a pool, whose policies decide.
  for (const { name } of loose) expect(name).toMatch(/^(items|item_\w+|feed_\w+) → (items|feed_pools|feed_sources)$/);
});
