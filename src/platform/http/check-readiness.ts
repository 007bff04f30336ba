import type { Db } from '../db/db.ts';
import { isMigrated } from '../db/migrate.ts';
import { appError } from '../lib/errors.ts';

export type ReadinessDeps = { db: Db };

/** Throws 503 if the database is unavailable or not migrated to this version. */
export async function checkReadiness({ db }: ReadinessDeps): Promise<void> {
  const headers = { 'retry-after': '2' };
  const migrated = await isMigrated(db).catch(() => {
    throw appError('unavailable', 'The database does not respond.', { headers });
  });
  if (!migrated) throw appError('unavailable', 'The database is not migrated to this version.', { headers });
}
