import { readFileSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import pg from 'pg';
import { ensureRoles } from './roles.ts';

const folder = resolve(import.meta.dirname, '../../../migrations');
// Any number that no one else on the server uses as an advisory lock.
const lockId = 8_423_001;

/** The migrations that this version of the program knows, in order. */
export function listMigrations(): string[] {
  return readdirSync(folder)
    .filter((name) => /^\d{4}_.+\.sql$/.test(name))
    .toSorted();
}

/**
 * Brings the database at `url` to this version, each migration in a transaction of its own, under a lock: any number of
 * processes may call it at once. Answers the names that were applied. A database of a newer version is refused.
 */
export async function migrate(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url, application_name: 'tocsin-migrate' });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [lockId]);
    await ensureRoles(client);
    await client.query(
      'create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())',
    );
    await client.query('grant select on migrations to tocsin_system');
    const { rows } = await client.query<{ name: string }>('select name from migrations');
    const done = new Set(rows.map((row) => row.name));
    const known = listMigrations();
    const foreign = [...done].filter((name) => !known.includes(name));
    if (foreign.length > 0)
      throw new Error(`The database was migrated by a newer version (${foreign[0]}); use that version or newer.`);
    const missing = known.filter((name) => !done.has(name));
    for (const name of missing) await apply(client, name);
    return missing;
  } finally {
    await client.end();
  }
}

async function apply(client: pg.Client, name: string): Promise<void> {
  await client.query('begin');
  try {
    await client.query(readFileSync(resolve(folder, name), 'utf8'));
    await client.query('insert into migrations (name) values ($1)', [name]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw new Error(`Migration ${name} failed: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
