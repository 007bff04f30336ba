import { isIP } from 'node:net';
import { fieldError } from '../lib/errors.ts';
import { isPublicAddress } from '../lib/outbound-http/public-address.ts';
import { validateOutboundUrl } from '../lib/outbound-http/validate-url.ts';
import { withoutBrackets } from '../lib/url-host.ts';

/**
 * Validates a destination URL and returns it in canonical form. 400 unless it is https to a public host. Hosts listed in
 * TOCSIN_FETCH_ALLOW may be private and use http. Host names are resolved and checked at each delivery.
 */
export function validateDestinationUrl(text: string, allow: readonly string[]): string {
  const { url, isAllowed } = validateOutboundUrl(text, allow);
  const host = withoutBrackets(url.hostname);
  if (isIP(host) && !isPublicAddress(host) && !isAllowed)
    throw fieldError('/url', 'private_address', `${host} is not a public address. TOCSIN_FETCH_ALLOW can permit it.`);
  url.hash = '';
  return url.href;
}
