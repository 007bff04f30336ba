import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { Kysely, PostgresDialect, sql, type RawBuilder } from 'kysely';
import pg from 'pg';
import type { OrgId } from '../lib/org-id.ts';
import { retryOnConflict } from './retry-on-conflict.ts';
import { traceStatement } from '../lib/logging/spans.ts';

/** Empty: statements are SQL text through Kysely's `sql` tag, with row types declared beside them (ADR 0003). */
type Tables = Record<never, never>;

/** The connection pool. Statements do not run on it directly: `inOrg` and `acrossOrgs` open a transaction with a role. */
export type Db = Kysely<Tables> & {
  readonly isPool: true;
  readonly pool: pg.Pool;
  readonly isPooled: boolean;
  readonly isDryRun?: boolean;
  readonly isRehearsed?: boolean;
  readonly replica?: ReadReplica;
};

/** The outcome of a transaction that a replica could serve: `replica`, or the reason why it ran on the primary. */
export type ReadOutcome = 'replica' | 'behind' | 'refused' | 'failed' | 'skipped';

/** A streaming replica for the transactions of requests that read. */
export type ReadReplica = {
  /** Numbers of transactions by outcome. */
  counts: Readonly<Record<ReadOutcome, number>>;
  /** Runs `work`, whose transactions may run on the replica. */
  allowReads: <T>(work: () => T) => T;
  /** Runs a transaction that begins with the statements `opening`. Undefined if it must run on the primary. */
  read: <T>(opening: string, work: TransactionWork<T>) => Promise<{ value: T } | undefined>;
  /** Finds out whether reads may use the replica. Never rejects. */
  check: () => Promise<void>;
  /** Returns why reads do not use the replica, or null. */
  fault: () => string | null;
  close: () => Promise<void>;
};

/** A transaction whose role and organization are set. Store functions accept one. */
export type Tx = Kysely<Tables> & { readonly isPool?: never };

const { builtins } = pg.types;

// Counts and sums fit a double here. Dates stay text, because a day is not an instant.
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary'): unknown {
    if (oid === builtins.INT8 || oid === builtins.NUMERIC) return Number;
    if (oid === builtins.DATE) return String;
    return pg.types.getTypeParser(oid, format as 'text');
  },
};

const namedStatementsMax = 1000;
const keptArrayMax = 30;

const isLongArray = (value: unknown): boolean => Array.isArray(value) && value.length > keptArrayMax;

/**
 * Returns a client class that prepares the first thousand distinct statements with bound values by name, once per connection. Parsing and
 * planning are most of a short statement's cost. A statement with a long array is planned each time, because a plan that the server keeps assumes
 * arrays of ten elements, which makes large batches several times slower.
 */
function createPreparingClient(): typeof pg.Client {
  const names = new Map<string, string>();
  const findOrAssignName = (text: string): string | undefined => {
    const known = names.get(text);
    if (known !== undefined || names.size >= namedStatementsMax) return known;
    const name = `t${names.size}`;
    names.set(text, name);
    return name;
  };
  return class PreparingClient extends pg.Client {
    // The only overload that the pool and Kysely use.
    override query(text: unknown, values?: unknown, done?: unknown): never {
      const query = super.query as (...args: unknown[]) => never;
      const isPreparable =
        typeof text === 'string' && Array.isArray(values) && values.length > 0 && !values.some(isLongArray);
      const name = isPreparable ? findOrAssignName(text) : undefined;
      return name === undefined ? query.call(this, text, values, done) : query.call(this, { name, text, values }, done);
    }
  };
}

/** A database's URL. `isPooled` if a pooler, such as PgBouncer, may run each transaction on another connection of the server. */
export type DatabaseAddress = { url: string; isPooled: boolean };

const sessionSettings = {
  timezone: 'UTC',
  statement_timeout: '60000',
  lock_timeout: '15000',
  idle_in_transaction_session_timeout: '60000',
};

/**
 * Opens a pool of at most `poolMax` connections, created on demand. Settings and prepared statements last as long as a connection of the server.
 * Behind a pooler, every transaction brings its settings, and no statement has a name.
 */
export function openDb(address: DatabaseAddress | string, poolMax = 10): Db {
  const { url, isPooled } = typeof address === 'string' ? { url: address, isPooled: false } : address;
  const pool = new pg.Pool({
    connectionString: url,
    max: poolMax,
    types: types as pg.CustomTypesConfig,
    Client: isPooled ? pg.Client : createPreparingClient(),
    application_name: 'tocsin',
    keepAlive: true,
    // Takes effect only where statements are sent without waiting for the previous one: see `acrossOrgsPipelined`.
    pipeline: true,
    connectionTimeoutMillis: 10_000,
    ...(isPooled
      ? {}
      : {
          options: Object.entries(sessionSettings)
            .map(([name, value]) => `-c ${name}=${value}`)
            .join(' '),
        }),
  });
  // A server that stops closes idle connections. The pool opens new ones, so the event needs no handling.
  pool.on('error', () => undefined);
  // A connection lost between two statements of a transaction emits it too. The next statement fails and reports the error.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const streams = new Set<Duplex>();
  pool.on('connect', (client) => streams.add(asConnected(client).connection.stream));
  pool.on('remove', (client) => streams.delete(asConnected(client).connection.stream));
  streamsByPool.set(pool, streams);
  return asDb(new Kysely<Tables>({ dialect: new PostgresDialect({ pool }), log: traceStatement }), { pool, isPooled });
}

/** Calls `onConnect` with the process id of every new connection's backend. Only meaningful for a server on this machine. */
export function onBackend(db: Db, onConnect: (pid: number) => void): void {
  db.pool.on('connect', (client) => onConnect(asConnected(client).processID));
}

/**
 * Resolves when the system has accepted all bytes of the statements that were started. It accepts a large statement in parts while the server
 * reads it, so that the server waits if this thread computes meanwhile.
 */
export async function untilSent(db: Db): Promise<void> {
  await setImmediate();
  const waiting = [...streamsByPool.get(db.pool)!].filter((stream) => stream.writableNeedDrain);
  await Promise.all(waiting.map((stream) => once(stream, 'drain')));
}

const streamsByPool = new WeakMap<pg.Pool, ReadonlySet<Duplex>>();

/** Parts of a connected client that its type lacks. */
type ConnectedClient = pg.PoolClient & { processID: number; connection: { stream: Duplex } };

const asConnected = (client: pg.PoolClient): ConnectedClient => client as ConnectedClient;

/** Returns the address of a pool's database, for another thread's own pool. */
export const addressOf = (db: Db): DatabaseAddress => ({
  url: db.pool.options.connectionString!,
  isPooled: db.isPooled,
});

/**
 * What a transaction does. It runs again, from the beginning, after a deadlock or a serialization failure (`retryOnConflict`). It therefore
 * has no effect outside of the transaction: it returns values instead of assigning them, and sends, writes files and clears caches only after
 * the transaction. It may fill caches by key and version, which a second run fills with the same entries.
 */
export type TransactionWork<T> = (tx: Tx) => Promise<T>;

/** Runs `work` in one transaction as the organization. Row-level security hides the rows of all others. */
export function inOrg<T>(db: Db, orgId: OrgId, work: TransactionWork<T>): Promise<T> {
  return transact(db, `${begin(db)}; ${asOrg(orgId)}`, work);
}

/** Runs `work` in one transaction over all organizations. Only store functions named `…AcrossOrgs` may need it. */
export function acrossOrgs<T>(db: Db, work: TransactionWork<T>): Promise<T> {
  return transact(db, `${begin(db)}; ${asSystem}`, work);
}

/**
 * Runs statements in one transaction over all organizations and returns the rows of the last one. All statements
 * and the commit are sent together, so that locks are held no longer than the statements take, however distant or busy this process is.
 */
export function acrossOrgsPipelined<T>(db: Db, statements: readonly RawBuilder<unknown>[]): Promise<T[]> {
  return retryOnConflict(() => runPipelined<T>(db, statements));
}

async function runPipelined<T>(db: Db, statements: readonly RawBuilder<unknown>[]): Promise<T[]> {
  const client = await db.pool.connect();
  try {
    // Awaited, because no statement may run if the role could not be set.
    await client.query(`${begin(db)}; ${asSystem}`);
    const results = await Promise.allSettled([
      ...statements.map((statement) => {
        const { sql: text, parameters } = statement.compile(db);
        return client.query(text, [...parameters]);
      }),
      client.query(endStatement(db)),
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

const localSettings = Object.entries(sessionSettings).map(([name, value]) => `set local ${name} = '${value}'`);
const pooledBegin = `begin; ${localSettings.join('; ')}`;
const begin = (db: Db): string => (db.isPooled ? pooledBegin : 'begin');

// Role and setting travel with BEGIN in one round trip, which allows no bound values. An OrgId is a validated UUID.
const asOrg = (orgId: OrgId): string => `set local role tocsin_app; select set_config('tocsin.org', '${orgId}', true)`;
const asSystem = 'set local role tocsin_system';

/** Returns the same pool, but every transaction is rolled back instead of committed. A dry run thus executes the real code. */
export function asDryRun(db: Db): Db {
  return asDb(db.withoutPlugins(), { pool: db.pool, isPooled: db.isPooled, isDryRun: true });
}

/**
 * Returns the same pool, but every transaction runs twice and the first time is rolled back, as if a concurrent transaction had made it fail at
 * its end. For tests of `TransactionWork`.
 */
export function asRehearsed(db: Db): Db {
  return asDb(db.withoutPlugins(), { pool: db.pool, isPooled: db.isPooled, isRehearsed: true });
}

/** Returns the same pool, whose transactions may run on a replica where a request allows it. */
export function withReplica(db: Db, replica: ReadReplica): Db {
  return asDb(db.withoutPlugins(), { pool: db.pool, isPooled: db.isPooled, replica });
}

const asDb = (
  kysely: Kysely<Tables>,
  parts: Pick<Db, 'pool' | 'isPooled' | 'isDryRun' | 'isRehearsed' | 'replica'>,
): Db => Object.assign(kysely, { isPool: true as const, ...parts });

const endStatement = (db: Db): string => (db.isDryRun ? 'rollback' : 'commit');

async function transact<T>(db: Db, opening: string, work: TransactionWork<T>): Promise<T> {
  const answer = await db.replica?.read(opening, work);
  return answer ? answer.value : retryOnConflict(() => runTransaction(db, opening, work));
}

function runTransaction<T>(db: Db, opening: string, work: TransactionWork<T>): Promise<T> {
  return db.connection().execute(async (connection) => {
    const tx = connection as Tx;
    await sql.raw(opening).execute(tx);
    try {
      if (db.isRehearsed) {
        await work(tx);
        await sql.raw(`rollback; ${opening}`).execute(tx);
      }
      const result = await work(tx);
      await sql.raw(endStatement(db)).execute(tx);
      return result;
    } catch (error) {
      // A lost connection has rolled back automatically. Report the first error, not the failed rollback.
      await sql
        .raw('rollback')
        .execute(tx)
        .catch(() => undefined);
      throw error;
    }
  });
}

/** Runs statements that write as one statement, in which references between their rows are checked at its end. At most 65,535 bound values in all. */
export async function runTogether(tx: Tx, statements: readonly RawBuilder<unknown>[]): Promise<void> {
  const last = statements.at(-1);
  const parts = statements.slice(0, -1).map((one, index) => sql`${sql.ref(`part_${index}`)} as (${one})`);
  if (last) await (parts.length === 0 ? last : sql`with ${sql.join(parts)} ${last}`).execute(tx);
}

type Statement<T> = ReturnType<typeof sql<T>>;
type Template<R> = (strings: TemplateStringsArray, ...values: unknown[]) => Promise<R>;

/** Runs a statement and returns its rows: ``queryRows<Row>(tx)`select …` ``, or `queryRows(tx, statement)` for a composed one. */
export function queryRows<T>(tx: Tx): Template<T[]>;
export function queryRows<T>(tx: Tx, statement: Statement<T>): Promise<T[]>;
export function queryRows<T>(tx: Tx, statement?: Statement<T>): Template<T[]> | Promise<T[]> {
  const run = async (whole: Statement<T>): Promise<T[]> => (await whole.execute(tx)).rows;
  return statement ? run(statement) : (strings, ...values) => run(sql<T>(strings, ...values));
}

/** Runs a statement like `queryRows` and returns its first row, or undefined. */
export function queryRow<T>(tx: Tx): Template<T | undefined>;
export function queryRow<T>(tx: Tx, statement: Statement<T>): Promise<T | undefined>;
export function queryRow<T>(tx: Tx, statement?: Statement<T>): Template<T | undefined> | Promise<T | undefined> {
  const run = async (whole: Statement<T>): Promise<T | undefined> => (await whole.execute(tx)).rows[0];
  return statement ? run(statement) : (strings, ...values) => run(sql<T>(strings, ...values));
}
