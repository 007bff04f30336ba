import { isIP } from 'node:net';
import { fieldError } from '../lib/errors.ts';
import { createAllowList, isPublicAddress } from '../lib/outbound-http/public-address.ts';
import { withoutBrackets } from '../lib/url-host.ts';
import type { OutputKind } from './outputs.schema.ts';

/**
 * Validates a destination URL and returns it in canonical form. 400 unless it is https to a public host. Hosts listed in
 * TOCSIN_FETCH_ALLOW may be private and use http. Host names are resolved and checked at each delivery.
 */
export function validateDestinationUrl(text: string, allow: readonly string[]): string {
  if (!URL.canParse(text)) throw fieldError('/url', 'invalid_url', 'url must be an absolute URL.');
  const url = new URL(text);
  const host = withoutBrackets(url.hostname);
  const isAllowed = createAllowList(allow)(host, host);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isAllowed))
    throw fieldError(
      '/url',
      'https_needed',
      'url must start with https://. http:// requires the host to be listed in TOCSIN_FETCH_ALLOW.',
    );
  if (url.username || url.password)
    throw fieldError('/url', 'invalid_url', 'url must not contain a user name or password.');
  if (isIP(host) && !isPublicAddress(host) && !isAllowed)
    throw fieldError('/url', 'private_address', `${host} is not a public address. TOCSIN_FETCH_ALLOW can permit it.`);
  url.hash = '';
  return url.href;
}

/** Returns a URL as clients may see it. The path of a chat webhook is a secret, so only its origin is shown. */
export function maskDestinationUrl(kind: OutputKind, url: string): string {
  return kind === 'webhook' ? url : `${new URL(url).origin}/…`;
}
