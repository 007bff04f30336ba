import { acrossOrgs, openDb, type Db } from '../platform/db/db.ts';
import { migrate } from '../platform/db/migrate.ts';
import type { Config } from '../config.ts';
import { sql } from 'kysely';

export type Database = { db: Db; url: string; location: string; stop: () => Promise<void> };

/**
 * The database of the settings: the given server, or the embedded one of the data directory, started or joined.
 * `exclusive` is for the roles that serve and work: a second one on the same directory is refused. Migrated before it is handed out.
 */
export async function openDatabase(
  config: Config,
  options: { exclusive: boolean; log: (line: string) => void },
): Promise<Database> {
  const server =
    config.databaseUrl === undefined
      ? await embedded(config, options)
      : { url: config.databaseUrl, location: 'DATABASE_URL', stop: async () => undefined };
  try {
    const applied = await migrate(server.url);
    if (applied.length > 0) options.log(`Database migrated: ${applied.length} step${applied.length === 1 ? '' : 's'}.`);
    const db = openDb(server.url);
    await acrossOrgs(db, (tx) => sql`select 1`.execute(tx));
    const stop = async (): Promise<void> => {
      await db.destroy();
      await server.stop();
    };
    return { db, url: server.url, location: server.location, stop };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function embedded(
  config: Config,
  { exclusive, log }: { exclusive: boolean; log: (line: string) => void },
): Promise<{ url: string; location: string; stop: () => Promise<void> }> {
  // Loaded here, so that a given server needs none of the embedded packages.
  const { startEmbedded } = await import('../platform/embedded-postgres/embedded-postgres.ts');
  return startEmbedded({ dataDir: config.dataDir, exclusive, log });
}
