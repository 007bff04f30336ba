import { withDatabase } from '../with-database.ts';

export async function migrateCommand(): Promise<number> {
  await withDatabase(async () => undefined);
  console.log('The database is migrated to this version.');
  return 0;
}
