import { createHmac, randomBytes } from 'node:crypto';
import { openJson, sealJson, type SealedColumn, type SealedRecord, type Secretbox } from '../lib/secretbox.ts';

/** Returns a new secret that signs deliveries. Standard Webhooks 1.0: `whsec_` and 24 to 64 random bytes in base64. */
export const createSigningSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/**
 * Returns the signature headers of Standard Webhooks 1.0 (standardwebhooks.com): one HMAC-SHA256 over `id.timestamp.body` per
 * active secret, keyed with the decoded bytes after `whsec_`.
 */
export function signDelivery(
  destination: DestinationSecrets,
  body: string,
  { id, at }: { id: string; at: Date },
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const { secret: current, previous } = destination;
  const secrets = [
    ...(current === null ? [] : [current]),
    ...(previous && new Date(previous.until) > at ? [previous.secret] : []),
  ];
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

/** The secret part of a destination. Until `previous.until`, deliveries are also signed with the previous secret. */
export type DestinationSecrets = {
  url: string;
  secret: string | null;
  previous?: { secret: string; until: string };
  credentials?: Record<string, unknown>;
};

const kind = 'destination';
export const destinationSecretsColumn: SealedColumn = { table: 'destinations', column: 'sealed', kind };

export const sealSecrets = (secrets: Secretbox, destination: SealedRecord, value: DestinationSecrets): Buffer =>
  sealJson(secrets, kind, destination, value);

export const openSecrets = (secrets: Secretbox, destination: SealedRecord & { sealed: Buffer }): DestinationSecrets =>
  openJson(secrets, kind, destination, destination.sealed);
