import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { connectDirectly } from './connect-directly.ts';
import { acrossOrgs, queryRow, queryRows, type Db } from './db.ts';
import { ensureRoles } from './roles.ts';

const folder = resolve(import.meta.dirname, '../../../migrations');
// An arbitrary advisory lock id that nothing else on the server uses.
const lockId = 8_423_001;

/** Returns the file names of all migrations of this version, in order. */
export function listMigrations(): string[] {
  return readdirSync(folder)
    .filter((name) => /^\d{4}_.+\.sql$/.test(name))
    .toSorted();
}

/** Returns whether the newest migration of this version is applied. Rejects if the database is unavailable. */
export async function isMigrated(db: Db): Promise<boolean> {
  const newest = await acrossOrgs(
    db,
    (tx) => queryRow<{ name: string }>(tx)`select name from migrations order by name desc limit 1`,
  );
  return newest?.name === listMigrations().at(-1);
}

/** Returns what is wrong with the migrations of a database, or undefined. A database that is only older has no fault. */
export async function findMigrationFault(db: Db): Promise<string | undefined> {
  const applied = await acrossOrgs(
    db,
    (tx) => queryRows<Migration>(tx)`select name, to_jsonb(m) ->> 'sha256' as sha256 from migrations m order by name`,
  );
  try {
    planMigrations(readMigrations(), applied);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * Migrates the database at `url` to this version, one transaction per migration, and returns the names of the applied ones. Several
 * processes may call it at the same time. Throws if the database is not an earlier state of this version.
 */
export function migrate(url: string): Promise<string[]> {
  return withSchemaLock(url, async (client) => {
    const missing = planMigrations(readMigrations(), await listAppliedMigrations(client));
    try {
      for (const name of missing) {
        await liftRowSecurity(client);
        await client.query('begin');
        try {
          await applyMigration(client, name);
          await client.query('commit');
        } catch (error) {
          await client.query('rollback');
          throw error;
        }
      }
    } finally {
      await forceRowSecurity(client);
    }
    return missing;
  });
}

const readStatements = (name: string): string => readFileSync(resolve(folder, name), 'utf8');
const hashOf = (statements: string): string => createHash('sha256').update(statements).digest('hex');

const readMigrations = (): Migration[] =>
  listMigrations().map((name) => ({ name, sha256: hashOf(readStatements(name)) }));

/**
 * Connects to the database at `url` and runs `work` while no other process migrates it. Creates missing roles first. Throws if `url` is a
 * pooler, whose server connection would keep the lock.
 */
export async function withSchemaLock<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectDirectly(url, 'tocsin-migrate');
  try {
    await client.query('select pg_advisory_lock($1)', [lockId]);
    await ensureRoles(client);
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Returns the migrations that a database has, in order. Creates the table that lists them. */
export async function listAppliedMigrations(client: pg.Client): Promise<Migration[]> {
  await client.query(
    'create table if not exists migrations (name text primary key, sha256 text not null, applied_at timestamptz not null default now())',
  );
  await client.query('grant select on migrations to tocsin_system');
  const { rows } = await client.query<Migration>(
    // Also reads a table of a development version, which has no such column.
    "select name, to_jsonb(m) ->> 'sha256' as sha256 from migrations m order by name",
  );
  return rows;
}

/** Applies a migration of this version in the current transaction. `liftRowSecurity` must have been called, unless no table has rows. */
export async function applyMigration(client: pg.Client, name: string): Promise<void> {
  const statements = readStatements(name);
  try {
    await client.query(statements);
    await client.query('insert into migrations (name, sha256) values ($1, $2)', [name, hashOf(statements)]);
  } catch (error) {
    throw new Error(`Migration ${name} failed: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/** Creates monthly partitions three months ahead. Only a table's owner may add partitions, so this runs as the pool's user, without a role. */
export async function createUpcomingPartitions(db: Db): Promise<void> {
  for (const table of ['audit', 'runs', 'outbox', 'run_steps'])
    await sql`select tocsin_partition_months(${table}, (now() at time zone 'UTC')::date, 3)`.execute(db);
}

/** `sha256` is the hash of the statements, in hexadecimal. Null if the database was created before hashes were recorded. */
export type Migration = { name: string; sha256: string | null };

/** Earlier texts of migrations, with the same result: they forced row-level security themselves, which `migrate` does for every table. */
const formerHashes: Record<string, string> = {
  '0007_logs.sql': 'de82f9f303204a29efaaaf8c9410ce34134c0c8346e9724fe4154ec764563d02',
  '0008_feed_sources_and_items.sql': '12716a2e596c73a1c3d240e29344b0f49014eb0a824e2df4f767134583f3ec72',
  '0009_feed_search_and_deduplication.sql': '2cb3f51e70f04d270fbf26069dfe8af62411b41aabf8958d9c7d45c2017df8ac',
};

/**
 * Returns the names of the migrations that a database lacks, in order. `known` are the migrations of this version, `applied` those of the
 * database, both in order. Throws if the database is not an earlier state of this version, with what to do.
 */
export function planMigrations(known: Migration[], applied: Migration[]): string[] {
  for (const [index, { name, sha256 }] of applied.entries()) {
    const expected = known[index];
    if (expected?.name !== name) throw new Error(describeOther(known, name, expected?.name));
    if (expected.sha256 !== sha256 && formerHashes[name] !== sha256)
      throw new Error(
        `The migration ${name} was changed after the database had applied it. Install an unchanged version. If the database was created before the first release, create a new one.`,
      );
  }
  return known.slice(applied.length).map(({ name }) => name);
}

/** Describes a database that has the migration `name` where this version has `expected`, or none. */
function describeOther(known: Migration[], name: string, expected: string | undefined): string {
  if (known.every((one) => one.name < name))
    return `The database was migrated by a newer version (${name}). Start that version or a newer one. To return to this version, restore the backup from before the upgrade into an empty database.`;
  if (known.some((one) => one.name === name))
    return `The database lacks the migration ${expected} although it has the later ${name}, so it belongs to no version. Restore a backup into an empty database.`;
  return `The database has the migration ${name}, which this version does not have: it was created by a version before the first release. Create a new database, or start the version that created it.`;
}

/**
 * Exempts the owner of the tables from row-level security, which `forceRowSecurity` restores. A migration that changes rows runs as the owner,
 * whom the policies do not mention, so that it would otherwise see no row unless the owner is a superuser. Each table is locked only briefly.
 */
export function liftRowSecurity(client: pg.Client): Promise<void> {
  return alterTables(client, 'c.relrowsecurity and c.relforcerowsecurity', 'no force');
}

/** Subjects the owner to row-level security in every table that has it, so that a statement without a role sees no row. */
export function forceRowSecurity(client: pg.Client): Promise<void> {
  return alterTables(client, 'c.relrowsecurity and not c.relforcerowsecurity', 'force');
}

async function alterTables(client: pg.Client, condition: string, action: 'force' | 'no force'): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and ${condition} order by 1`,
  );
  for (const { name } of rows)
    await client.query(`alter table ${pg.escapeIdentifier(name)} ${action} row level security`);
}
