import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import type { OrgId } from '../lib/org-id.ts';

/** Statements are SQL text through Kysely's `sql` tag; row types stand beside the statement (ADR 0003). */
type Tables = Record<never, never>;

/** The pool. No statement runs on it directly: `inOrg` and `acrossOrgs` open the transaction with its role. */
export type Db = Kysely<Tables> & { readonly isPool: true };

/** A transaction whose role and organization are set. Store functions take one. */
export type Tx = Kysely<Tables> & { readonly isPool?: never };

const { builtins } = pg.types;

// Counts and sums fit a double here; dates stay text, since a day is no instant.
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary'): unknown {
    if (oid === builtins.INT8 || oid === builtins.NUMERIC) return Number;
    if (oid === builtins.DATE) return String;
    return pg.types.getTypeParser(oid, format as 'text');
  },
};

/** Opens a pool. Connections are made on demand, `poolMax` at most. */
export function openDb(url: string, poolMax = 10): Db {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolMax,
    types: types as pg.CustomTypesConfig,
    application_name: 'tocsin',
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
    options: '-c timezone=UTC -c statement_timeout=60000 -c idle_in_transaction_session_timeout=60000',
  });
  // A server that goes away ends idle connections; the pool makes new ones, so the event itself asks for nothing.
  pool.on('error', () => undefined);
  // One that is in use and between two statements tells its loss the same way; its next statement fails and says so.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }) as Db;
}

/** Runs `work` in one transaction as the organization: rows of others do not exist for it. */
export function inOrg<T>(db: Db, orgId: OrgId, work: (tx: Tx) => Promise<T>): Promise<T> {
  // `set_config` takes no bind here since role and setting travel with BEGIN in one round trip; an OrgId is a checked uuid.
  return transact(db, `begin; set local role tocsin_app; select set_config('tocsin.org', '${orgId}', true)`, work);
}

/** Runs `work` in one transaction over all organizations. Only store functions named `…AcrossOrgs` may need it. */
export function acrossOrgs<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  return transact(db, 'begin; set local role tocsin_system', work);
}

async function transact<T>(db: Db, begin: string, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db.connection().execute(async (connection) => {
    const tx = connection as Tx;
    await sql.raw(begin).execute(tx);
    try {
      const result = await work(tx);
      await sql.raw('commit').execute(tx);
      return result;
    } catch (error) {
      // A connection that is gone has rolled back by itself; the first error is the one to tell.
      await sql
        .raw('rollback')
        .execute(tx)
        .catch(() => undefined);
      throw error;
    }
  });
}

/** Rows of a statement. */
export async function rows<T>(tx: Tx, statement: ReturnType<typeof sql<T>>): Promise<T[]> {
  return (await statement.execute(tx)).rows;
}

/** The first row of a statement, or undefined. */
export async function row<T>(tx: Tx, statement: ReturnType<typeof sql<T>>): Promise<T | undefined> {
  return (await statement.execute(tx)).rows[0];
}
