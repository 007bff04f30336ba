import { readFileSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { sql } from 'kysely';
import type pg from 'pg';
import { connectDirectly } from './connect-directly.ts';
import { acrossOrgs, queryRow, type Db } from './db.ts';
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

/** Reports whether the newest migration of this version is applied. Rejects if the database is unavailable. */
export async function isMigrated(db: Db): Promise<boolean> {
  const newest = await acrossOrgs(
    db,
    (tx) => queryRow<{ name: string }>(tx)`select name from migrations order by name desc limit 1`,
  );
  return newest?.name === listMigrations().at(-1);
}

/**
 * Migrates the database at `url` to this version, one transaction per migration, and returns the names of the applied ones. Several
 * processes may call it at the same time. Throws if a newer version has migrated the database.
 */
export function migrate(url: string): Promise<string[]> {
  return withSchemaLock(url, async (client) => {
    const applied = await listAppliedMigrations(client);
    const known = listMigrations();
    const unknown = applied.filter((name) => !known.includes(name));
    if (unknown.length > 0)
      throw new Error(`The database was migrated by a newer version (${unknown[0]}). Use that version or a newer one.`);
    const missing = known.filter((name) => !applied.includes(name));
    for (const name of missing) {
      await client.query('begin');
      try {
        await applyMigration(client, name);
        await client.query('commit');
      } catch (error) {
        await client.query('rollback');
        throw error;
      }
    }
    return missing;
  });
}

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

/** Returns the names of the migrations that a database has, in order. Creates the table that lists them. */
export async function listAppliedMigrations(client: pg.Client): Promise<string[]> {
  await client.query(
    'create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())',
  );
  await client.query('grant select on migrations to tocsin_system');
  const { rows } = await client.query<{ name: string }>('select name from migrations order by name');
  return rows.map(({ name }) => name);
}

/** Applies a migration of this version in the current transaction. */
export async function applyMigration(client: pg.Client, name: string): Promise<void> {
  try {
    await client.query(readFileSync(resolve(folder, name), 'utf8'));
    await client.query('insert into migrations (name) values ($1)', [name]);
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
