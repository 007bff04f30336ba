import { rotateKey } from '../../app/rotate-key.ts';
import { createSecretbox } from '../../platform/lib/secretbox.ts';
import { printError, printResult, printLines } from '../support/output.ts';
import { UsageError } from '../support/failures.ts';
import { withDatabase } from '../support/with-database.ts';

/** Returns exit code 1 if there are credentials that neither key decrypts. */
export async function rotateKeyCommand({ json }: { json?: boolean | undefined }): Promise<number> {
  const result = await withDatabase((db, config) => {
    if (config.secretKey === undefined || config.previousSecretKey === undefined)
      throw new UsageError('Set TOCSIN_SECRET_KEY to the new key and TOCSIN_SECRET_KEY_PREVIOUS to the former one.');
    return rotateKey(db, createSecretbox(config));
  });
  const { resealed, unchanged, unreadable } = result;
  printResult(json, result, `${resealed} credentials encrypted with the new key, ${unchanged} had it already.`);
  if (unreadable.length === 0) return 0;
  printError(`Neither key decrypts these ${unreadable.length}. Enter them again: ${unreadable.join(', ')}`);
  return 1;
}

export async function migrateCommand(): Promise<number> {
  await withDatabase(async () => undefined);
  printLines('The database is migrated to this version.');
  return 0;
}
