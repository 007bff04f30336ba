import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { sql } from 'kysely';
import type pg from 'pg';
import { connectDirectly } from '../connect-directly.ts';
import { acrossOrgs, queryRow, queryRows, type Db } from '../db.ts';
import { ensureRoles } from '../roles.ts';
import { forceRowSecurity, liftRowSecurity } from './owner-row-security.ts';
import { planMigrations, type Migration } from './plan-migrations.ts';

const folder = resolve(import.meta.dirname, '../../../../migrations');
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
