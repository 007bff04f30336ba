import { createHmac } from 'node:crypto';
import type { Sealed } from '../output-secrets.ts';

/**
 * Headers of Standard Webhooks 1.0 (standardwebhooks.com): HMAC-SHA256 over `id.timestamp.body` with the bytes behind `whsec_`, one
 * signature per secret in force. `at` is the time of this try.
 */
export function signatureHeaders(sealed: Sealed, id: string, at: Date, body: string): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const { previous } = sealed;
  const secrets = [
    ...(sealed.secret === null ? [] : [sealed.secret]),
    ...(previous && new Date(previous.until) > at ? [previous.secret] : []),
  ];
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}
