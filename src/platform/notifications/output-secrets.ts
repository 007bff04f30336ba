import { randomBytes } from 'node:crypto';
import { openJson, sealJson, type SealedColumn, type SealedRecord } from '../lib/secrets/sealed-json.ts';
import type { Secretbox } from '../lib/secrets/secretbox.ts';

/** The secret part of a destination. Until `previous.until`, deliveries are also signed with the previous secret. */
export type OutputSecrets = { url: string; secret: string | null; previous?: { secret: string; until: string } };

const kind = 'output';
export const outputSecretsColumn: SealedColumn = { table: 'outputs', column: 'sealed', kind };

export const sealOutputSecrets = (secrets: Secretbox, output: SealedRecord, value: OutputSecrets): Buffer =>
  sealJson(secrets, kind, output, value);

export const openOutputSecrets = (secrets: Secretbox, output: SealedRecord & { sealed: Buffer }): OutputSecrets =>
  openJson(secrets, kind, output, output.sealed);

/** Creates a secret by Standard Webhooks 1.0: `whsec_` and 24 to 64 random bytes in base64. */
export const createWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;
