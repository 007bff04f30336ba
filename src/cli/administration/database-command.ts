import { createSecretbox, type SealedColumn, type Secretbox } from '../../platform/lib/secretbox.ts';
import { printError, printResult, printLines } from '../support/output.ts';
import { UsageError } from '../support/failures.ts';
import { withDatabase } from '../support/with-database.ts';
import { credentialsColumn } from '../../detection/connections/open-connection.ts';
import { triggerSecretColumn } from '../../detection/response-agents/agent-triggers.ts';
import { sourceAuthColumn } from '../../feed/sources/source-auth.ts';
import type { Db } from '../../platform/db/db.ts';
import { resealColumn, type ResealResult } from '../../platform/db/reseal.store.ts';
import { enricherSecretsColumn } from '../../platform/enrichment/enrichers.ts';
import { mcpHeadersColumn } from '../../platform/mcp/mcp-servers.ts';
import { destinationSecretsColumn } from '../../platform/notifications/destination-secrets.ts';

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

export const sealedColumns: readonly SealedColumn[] = [
  triggerSecretColumn,
  credentialsColumn,
  destinationSecretsColumn,
  enricherSecretsColumn,
  sourceAuthColumn,
  mcpHeadersColumn,
];

/** Encrypts every stored credential with the current key that the previous key encrypted. May be interrupted and called again. */
export async function rotateKey(db: Db, secrets: Secretbox): Promise<ResealResult> {
  const total: ResealResult = { resealed: 0, unchanged: 0, unreadable: [] };
  for (const column of sealedColumns) {
    const { resealed, unchanged, unreadable } = await resealColumn(db, secrets, column);
    total.resealed += resealed;
    total.unchanged += unchanged;
    total.unreadable.push(...unreadable);
  }
  return total;
}
