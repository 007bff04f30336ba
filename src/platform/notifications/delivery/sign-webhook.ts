import { createHmac } from 'node:crypto';
import type { OutputSecrets } from '../output-secrets.ts';

/**
 * Returns the signature headers of Standard Webhooks 1.0 (standardwebhooks.com): one HMAC-SHA256 over `id.timestamp.body` per
 * active secret, keyed with the decoded bytes after `whsec_`. `at` is the time of the attempt.
 */
export function signWebhook(output: OutputSecrets, id: string, at: Date, body: string): Record<string, string> {
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
