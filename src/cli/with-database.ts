import { loadConfig, type Config } from '../config.ts';
import { openDatabase } from '../app/open-database.ts';
import type { Db } from '../platform/db/db.ts';

/** Runs a command on the configured database. Joins the running embedded database, or starts it for the duration of the command. */
export async function withDatabase<T>(work: (db: Db, config: Config) => Promise<T>): Promise<T> {
  const config = loadConfig();
  const database = await openDatabase(config, { exclusive: false, log: () => undefined });
  try {
    return await work(database.db, config);
  } finally {
    await database.stop();
  }
}
