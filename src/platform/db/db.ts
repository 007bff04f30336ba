import { Kysely, PostgresDialect, sql, type RawBuilder } from 'kysely';
import pg from 'pg';
import type { OrgId } from '../lib/org-id.ts';

/** Statements are SQL text through Kysely's `sql` tag; row types stand beside the statement (ADR 0003). */
type Tables = Record<never, never>;

/** The pool. No statement runs on it directly: `inOrg` and `acrossOrgs` open the transaction with its role. */
export type Db = Kysely<Tables> & { readonly isPool: true; readonly pool: pg.Pool; readonly isRehearsal?: boolean };

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

const namedMax = 1000;
const names = new Map<string, string>();

/** The name under which a statement's text is prepared once a connection; the first thousand texts have one. */
function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= namedMax) return known;
  const name = `t${names.size}`;
  names.set(text, name);
  return name;
}

/** Statements with bound values are parsed and planned by name: most of a short statement's cost is its parsing. */
class NamingClient extends pg.Client {
  // The pool and Kysely use this one form of many.
  override query(text: unknown, values?: unknown, done?: unknown): never {
    const query = super.query as (...given: unknown[]) => never;
    const name = typeof text === 'string' && Array.isArray(values) && values.length > 0 ? nameOf(text) : undefined;
    return name === undefined ? query.call(this, text, values, done) : query.call(this, { name, text, values }, done);
  }
}

/** Opens a pool. Connections are made on demand, `poolMax` at most. */
export function openDb(url: string, poolMax = 10): Db {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolMax,
    types: types as pg.CustomTypesConfig,
    Client: NamingClient,
    application_name: 'tocsin',
    keepAlive: true,
    // Of no effect where each statement is waited for before the next: see `acrossOrgsAtOnce`.
    pipeline: true,
    connectionTimeoutMillis: 10_000,
    // A plan that is kept guesses the length of every array: the batches of the scheduler are seven times slower under it.
    options:
      '-c timezone=UTC -c statement_timeout=60000 -c idle_in_transaction_session_timeout=60000 -c plan_cache_mode=force_custom_plan',
  });
  // A server that goes away ends idle connections; the pool makes new ones, so the event itself asks for nothing.
  pool.on('error', () => undefined);
  // One that is in use and between two statements tells its loss the same way; its next statement fails and says so.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return asDb(new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }), { pool });
}

/** Runs `work` in one transaction as the organization: rows of others do not exist for it. */
export function inOrg<T>(db: Db, orgId: OrgId, work: (tx: Tx) => Promise<T>): Promise<T> {
  return transact(db, `begin; ${asOrg(orgId)}`, work);
}

/** As `inOrg`, for steps of runs and for creations: statements by key and inserts, whose plans are kept, since making them costs more than running them. */
export function inOrgByKey<T>(db: Db, orgId: OrgId, work: (tx: Tx) => Promise<T>): Promise<T> {
  return transact(db, `begin; ${keepPlans}; ${asOrg(orgId)}`, work);
}

/** Runs `work` in one transaction over all organizations. Only store functions named `…AcrossOrgs` may need it. */
export function acrossOrgs<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  return transact(db, `begin; ${asSystem}`, work);
}

/**
 * Runs statements in one transaction over all organizations, with plans kept as by `inOrgByKey`. They and its end are sent at once:
 * what the first locks is free as soon as the last is done, however far or busy this process is. Answers the rows of the last.
 */
export async function acrossOrgsAtOnce<T>(db: Db, statements: readonly RawBuilder<unknown>[]): Promise<T[]> {
  const client = await db.pool.connect();
  try {
    // Waited for: no statement may run where the role was not taken.
    await client.query(`begin; ${keepPlans}; ${asSystem}`);
    const results = await Promise.allSettled([
      ...statements.map((statement) => {
        const { sql: text, parameters } = statement.compile(db);
        return client.query(text, [...parameters]);
      }),
      client.query(endOf(db)),
    ]);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
    return (results.at(-2) as PromiseFulfilledResult<pg.QueryResult>).value.rows as T[];
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  } finally {
    client.release();
  }
}

// `set_config` takes no bind here since role and setting travel with BEGIN in one round trip; an OrgId is a checked uuid.
const asOrg = (orgId: OrgId): string => `set local role tocsin_app; select set_config('tocsin.org', '${orgId}', true)`;
const asSystem = 'set local role tocsin_system';
// PostgreSQL then keeps a plan where it looks no dearer than one for the values at hand.
const keepPlans = 'set local plan_cache_mode = auto';

/** The same pool, but every transaction is undone where it would be committed: for dry runs, which then do all that the real thing does. */
export function rehearse(db: Db): Db {
  return asDb(db.withoutPlugins(), { pool: db.pool, isRehearsal: true });
}

const asDb = (kysely: Kysely<Tables>, parts: Pick<Db, 'pool' | 'isRehearsal'>): Db =>
  Object.assign(kysely, { isPool: true as const, ...parts });

const endOf = (db: Db): string => (db.isRehearsal ? 'rollback' : 'commit');

async function transact<T>(db: Db, begin: string, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db.connection().execute(async (connection) => {
    const tx = connection as Tx;
    await sql.raw(begin).execute(tx);
    try {
      const result = await work(tx);
      await sql.raw(endOf(db)).execute(tx);
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
