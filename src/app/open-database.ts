import { sql } from 'kysely';
import { explainConnectionFailure } from '../platform/db/server-address.ts';
import { acrossOrgs, openDb, type DatabaseAddress, type Db, withReplica } from '../platform/db/db.ts';
import { migrate } from '../platform/db/migrate.ts';
import type { Config } from '../config.ts';
import { openReadReplica } from '../platform/db/read-replica.ts';
import type { Logger } from '../platform/lib/logging/logger.ts';
import { runLoop } from '../platform/lib/concurrency/loop.ts';

/** `url` is the server itself, for what needs a session of it. `address` may be a pooler in front of it. */
type Server = { url: string; address: DatabaseAddress; location: string; stop: () => Promise<void> };
type Database = Server & { db: Db };
type OpenOptions = { exclusive: boolean; log: (line: string) => void };

/**
 * Opens and migrates the database: the server at DATABASE_URL, or the embedded one of the data directory, which is started or joined.
 * `exclusive` is for the roles that serve and work: only one process may own a data directory at a time.
 */
export async function openDatabase(config: Config, options: OpenOptions): Promise<Database> {
  const server = await openServer(config, options);
  try {
    const applied = await migrate(server.url).catch((error: unknown) => {
      throw explainFailure(config, server.url, error);
    });
    if (applied.length > 0)
      options.log(`Database migrated: ${applied.length} migration${applied.length === 1 ? '' : 's'} applied.`);
    const db = openDb(server.address);
    await acrossOrgs(db, (tx) => sql`select 1`.execute(tx)).catch((error: unknown) => {
      throw explainFailure(config, server.address.url, error);
    });
    const stop = async (): Promise<void> => {
      await db.destroy();
      await server.stop();
    };
    return { ...server, db, stop };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** Returns an error that says which setting has the URL that cannot be used, and why. */
export function explainFailure({ databaseUrl, databaseDirectUrl }: Config, url: string, error: unknown): unknown {
  if (databaseUrl === undefined) return error;
  return explainConnectionFailure(url, error, url === databaseDirectUrl ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL');
}

/** Opens the database without migrating it. */
export async function openServer(config: Config, { exclusive, log }: OpenOptions): Promise<Server> {
  const { databaseUrl, databaseDirectUrl } = config;
  if (databaseUrl !== undefined) {
    const address = { url: databaseUrl, isPooled: databaseDirectUrl !== undefined };
    return { url: databaseDirectUrl ?? databaseUrl, address, location: 'DATABASE_URL', stop: async () => undefined };
  }
  // Loaded lazily, so that an external server needs none of the embedded packages.
  const { startEmbeddedPostgres } = await import('../platform/embedded-postgres/embedded-postgres.ts');
  const { url, location, stop } = await startEmbeddedPostgres({ dataDir: config.dataDir, exclusive, log });
  return { url, address: { url, isPooled: false }, location, stop };
}

const checkMs = 1_000;

/**
 * Returns the database with its read replica, if DATABASE_REPLICA_URL is set. Checks the replica now and then every second until the signal
 * aborts, and logs when that changes. The caller closes the replica.
 */
export async function openReplica(
  db: Db,
  { databaseReplicaUrl: url }: Pick<Config, 'databaseReplicaUrl'>,
  { log, signal }: { log: Logger; signal: AbortSignal },
): Promise<Db> {
  if (url === undefined) return db;
  const replica = openReadReplica(db, url);
  let reported: string | null = null;
  const check = async (): Promise<false> => {
    await replica.check();
    const fault = replica.fault();
    if (fault !== null && reported === null) log.warn(fault);
    if (fault === null && reported !== null) log.info('The read replica is used again.');
    reported = fault;
    return false;
  };
  await check();
  void runLoop({ name: 'replica', idleMs: checkMs, signal, log }, check);
  return withReplica(db, replica);
}
