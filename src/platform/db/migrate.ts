import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { connectDirectly } from './server-address.ts';
import { acrossOrgs, queryRow, queryRows, type Db } from './db.ts';
import { ensureRoles } from './roles.ts';

const shipped = resolve(import.meta.dirname, '../../../migrations');
// An arbitrary advisory lock id that nothing else on the server uses.
const lockId = 8_423_001;

/** Returns the file names of all migrations of this version, or of another one in `folder`, in order. */
export function listMigrations(folder = shipped): string[] {
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
    (tx) =>
      queryRows<Migration>(tx)`
        select name, coalesce(to_jsonb(m) ->> 'sha256', '') as sha256 from migrations m order by name`,
  );
  try {
    planMigrations(readMigrations(), applied);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * Migrates the database at `url` to this version, or to the one in `folder`, in one transaction per migration, and returns the names of the
 * applied ones. Several processes may call it at the same time. Throws if the database is not an earlier state of that version.
 */
export function migrate(url: string, folder = shipped): Promise<string[]> {
  return withSchemaLock(url, async (client) => {
    const missing = planMigrations(readMigrations(folder), await listAppliedMigrations(client));
    try {
      for (const name of missing) {
        await liftRowSecurity(client);
        await client.query('begin');
        try {
          await applyMigration(client, name, folder);
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

const readStatements = (folder: string, name: string): string => readFileSync(resolve(folder, name), 'utf8');
const hashOf = (statements: string): string => createHash('sha256').update(statements).digest('hex');

/** Returns all migrations of this version, or of another one in `folder`, in order. */
export const readMigrations = (folder = shipped): Migration[] =>
  listMigrations(folder).map((name) => ({ name, sha256: hashOf(readStatements(folder, name)) }));

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
    // Also reads the table of an early development version, which has no such column.
    "select name, coalesce(to_jsonb(m) ->> 'sha256', '') as sha256 from migrations m order by name",
  );
  return rows;
}

/** Applies a migration of this version in the current transaction. `liftRowSecurity` must have been called, unless no table has rows. */
export async function applyMigration(client: pg.Client, name: string, folder = shipped): Promise<void> {
  const statements = readStatements(folder, name);
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

/** `sha256` is the hash of the statements, in hexadecimal. */
export type Migration = { name: string; sha256: string };

/**
 * The first migration of a database, or of a backup, that differs from this version. The database is of a newer version or of a development
 * version, or its list of migrations lacks `lacking`, an earlier one, and belongs to no version.
 */
export type MigrationMismatch =
  | { kind: 'newer' | 'development'; name: string }
  | { kind: 'gap'; name: string; lacking: string };

/** Returns how `applied`, the migrations of a database in order, is no earlier state of `known`, those of this version, or undefined. */
export function findMismatch(known: Migration[], applied: Migration[]): MigrationMismatch | undefined {
  for (const [index, { name, sha256 }] of applied.entries()) {
    const expected = known[index];
    if (expected?.name === name && expected.sha256 === sha256) continue;
    if (known.every((one) => one.name < name)) return { kind: 'newer', name };
    if (expected !== undefined && expected.name < name && known.some((one) => one.name === name))
      return { kind: 'gap', name, lacking: expected.name };
    return { kind: 'development', name };
  }
  return undefined;
}

/**
 * Returns the names of the migrations that a database lacks, in order. `known` are the migrations of this version, `applied` those of the
 * database, both in order. Throws if the database is not an earlier state of this version, with what to do.
 */
export function planMigrations(known: Migration[], applied: Migration[]): string[] {
  const mismatch = findMismatch(known, applied);
  if (mismatch !== undefined) throw new Error(explain(mismatch));
  return known.slice(applied.length).map(({ name }) => name);
}

function explain(mismatch: MigrationMismatch): string {
  const { kind, name } = mismatch;
  if (kind === 'newer')
    return `The database was migrated by a newer version (${name}). Start that version or a newer one. To return to this version, restore the backup from before the upgrade into an empty database.`;
  if (kind === 'gap')
    return `The database lacks the migration ${mismatch.lacking} although it has the later ${name}, so it belongs to no version. Restore a backup into an empty database.`;
  return `The database was created by a development version, whose migration ${name} is not that of this version. Create a new database (another DATABASE_URL, or without it another TOCSIN_DATA_DIR), because nothing was released before 0.1.0.`;
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
