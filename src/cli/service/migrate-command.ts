import { withDatabase } from '../with-database.ts';
import { printLines } from '../output.ts';

export async function migrateCommand(): Promise<number> {
  await withDatabase(async () => undefined);
  printLines('The database is migrated to this version.');
  return 0;
}
