import { credentialsColumn } from '../detection/connections/open-connection.ts';
import { triggerSecretColumn } from '../detection/response-agents/agent-triggers.ts';
import { sourceAuthColumn } from '../feed/sources/source-auth.ts';
import type { Db } from '../platform/db/db.ts';
import { resealColumn, type ResealResult } from '../platform/db/reseal.store.ts';
import type { SealedColumn, Secretbox } from '../platform/lib/secretbox.ts';
import { enricherSecretsColumn } from '../platform/enrichment/enrichers.ts';
import { mcpHeadersColumn } from '../platform/mcp/mcp-servers.ts';
import { destinationSecretsColumn } from '../platform/notifications/destination-secrets.ts';

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
