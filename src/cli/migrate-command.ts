import { readArgs, UsageError } from './read-args.ts';
import { withDatabase } from './with-database.ts';

export async function migrateCommand(args: string[]): Promise<number> {
  const usage = 'tocsin migrate';
  if (readArgs(args, {}, usage).positionals.length > 0) throw new UsageError(`Usage: ${usage}`);
  await withDatabase(async () => undefined);
  console.log('The database is migrated to this version.');
  return 0;
}
