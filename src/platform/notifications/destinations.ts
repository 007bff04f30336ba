import { createHmac, randomBytes } from 'node:crypto';
import { openJson, sealJson, type SealedColumn, type SealedRecord, type Secretbox } from '../lib/secretbox.ts';
import type { EventBody } from './event-types.ts';
import type { OutputKind } from './outputs.schema.ts';
import { slackMessage, teamsMessage } from './chat-message.ts';

/** An event that is sent: its record, and the time of the attempt. */
type SentEvent = { event: EventBody; at: Date };

/** Everything that depends on the kind of a destination. */
type Destination = {
  /** Returns the secret that signs deliveries, or null if nothing is signed. Standard Webhooks 1.0: `whsec_` and 24 to 64 random bytes in base64. */
  createSecret: () => string | null;
  /** Returns the URL as clients may see it. */
  showUrl: (url: string) => string;
  renderBody: (event: EventBody) => object;
  /** Returns the headers that sign a body. */
  sign: (output: OutputSecrets, body: string, sent: SentEvent) => Record<string, string>;
  /** Returns whether a response with status 2xx reports a failure in its text. */
  reportsFailure: (text: string) => boolean;
};

/** The path of a chat webhook is a secret, so only its origin is shown. */
const chat = {
  createSecret: () => null,
  showUrl: (url: string) => `${new URL(url).origin}/…`,
  sign: () => ({}),
  reportsFailure: () => false,
};

/** A new kind of destination is a line here, and one in the check of the column `outputs.kind`. */
const destinations: Record<OutputKind, Destination> = {
  webhook: {
    createSecret: () => `whsec_${randomBytes(32).toString('base64')}`,
    showUrl: (url) => url,
    renderBody: (event) => event,
    sign: signWebhook,
    reportsFailure: () => false,
  },
  slack: { ...chat, renderBody: slackMessage },
  // Teams reports its own throttling with status 200.
  teams: { ...chat, renderBody: teamsMessage, reportsFailure: (text) => /HTTP error \d{3}/.test(text) },
};

/** Returns the destination of a kind. Throws for one that this version does not know, which a newer version may have stored. */
export function destinationOf(kind: OutputKind): Destination {
  if (!Object.hasOwn(destinations, kind)) throw new Error(`This version knows no destination of the kind ${kind}.`);
  return destinations[kind];
}

/**
 * Returns the signature headers of Standard Webhooks 1.0 (standardwebhooks.com): one HMAC-SHA256 over `id.timestamp.body` per
 * active secret, keyed with the decoded bytes after `whsec_`.
 */
function signWebhook(output: OutputSecrets, body: string, { event: { id }, at }: SentEvent): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const { secret: current, previous } = output;
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
export type OutputSecrets = { url: string; secret: string | null; previous?: { secret: string; until: string } };

const kind = 'output';
export const outputSecretsColumn: SealedColumn = { table: 'outputs', column: 'sealed', kind };

export const sealOutputSecrets = (secrets: Secretbox, output: SealedRecord, value: OutputSecrets): Buffer =>
  sealJson(secrets, kind, output, value);

export const openOutputSecrets = (secrets: Secretbox, output: SealedRecord & { sealed: Buffer }): OutputSecrets =>
  openJson(secrets, kind, output, output.sealed);
