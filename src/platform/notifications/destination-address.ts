import { isIP } from 'node:net';
import { fieldError } from '../lib/errors.ts';
import { createAllowance, isPublicAddress } from '../lib/outbound-http/public-address.ts';
import type { OutputKind } from './outputs.schema.ts';

/**
 * Checks an address as far as its text tells; names are resolved and checked at each delivery. 400 for anything but https to a public
 * host; hosts that TOCSIN_FETCH_ALLOW names may be private and use http. Answers it in canonical form.
 */
export function readAddress(text: string, allow: readonly string[]): string {
  if (!URL.canParse(text)) throw fieldError('/url', 'invalid_url', 'url must be an absolute address.');
  const url = new URL(text);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const isAllowed = createAllowance(allow)(host, host);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isAllowed))
    throw fieldError(
      '/url',
      'https_needed',
      'url must begin with https:// (http only where TOCSIN_FETCH_ALLOW names the host).',
    );
  if (url.username || url.password)
    throw fieldError('/url', 'invalid_url', 'url must not hold a user name or password.');
  if (isIP(host) && !isPublicAddress(host) && !isAllowed)
    throw fieldError('/url', 'private_address', `${host} is not a public address (TOCSIN_FETCH_ALLOW can permit it).`);
  url.hash = '';
  return url.href;
}

/** What may be seen of an address: the path of a chat's webhook is its password. */
export function shownAddress(kind: OutputKind, address: string): string {
  return kind === 'webhook' ? address : `${new URL(address).origin}/…`;
}
