import { createHmac } from 'node:crypto';
import { toPublicLink } from '../../lib/public-link.ts';
import type { EventBody } from '../event-types.ts';
import type { OutputSecrets } from '../output-secrets.ts';
import type { OutputKind } from '../outputs.schema.ts';
import { slackMessage, teamsMessage } from './chat-message.ts';

export type DeliveryRequest = { url: string; headers: Record<string, string>; body: string };

/**
 * Renders the request to a destination. The body depends only on the stored event and the public address of the service, so it is the same on
 * every attempt.
 */
export function renderDelivery(
  { kind, output, publicUrl }: { kind: OutputKind; output: OutputSecrets; publicUrl: string | null },
  event: { id: string; body: string },
  at: Date,
): DeliveryRequest {
  const { url } = output;
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  const parsed = resolveLink(JSON.parse(event.body) as EventBody, publicUrl);
  if (kind === 'webhook') {
    const body = JSON.stringify(parsed);
    return { url, body, headers: { ...headers, ...signWebhook(output, event.id, at, body) } };
  }
  return { url, headers, body: JSON.stringify(kind === 'slack' ? slackMessage(parsed) : teamsMessage(parsed)) };
}

/** Returns an event whose `data.url`, which is stored as a path of the service, is a link, or null if the service does not know its address. */
function resolveLink(event: EventBody, publicUrl: string | null): EventBody {
  const { url } = event.data as { url?: unknown };
  if (typeof url !== 'string' || !url.startsWith('/')) return event;
  return { ...event, data: { ...(event.data as object), url: toPublicLink(publicUrl, url) } };
}

/**
 * Returns the signature headers of Standard Webhooks 1.0 (standardwebhooks.com): one HMAC-SHA256 over `id.timestamp.body` per
 * active secret, keyed with the decoded bytes after `whsec_`. `at` is the time of the attempt.
 */
function signWebhook(output: OutputSecrets, id: string, at: Date, body: string): Record<string, string> {
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
