import { fieldError } from '../errors.ts';
import { withoutBrackets } from '../url-host.ts';
import { createAllowList } from './public-address.ts';

/**
 * Returns the URL in the field `url` of a request, and whether its host is in `allow` (TOCSIN_FETCH_ALLOW). Throws a 400 for credentials in
 * it, and unless it is https, or http to a host in `allow`. `credentialHint` ends the message about credentials.
 */
export function validateOutboundUrl(
  text: string,
  allow: readonly string[],
  credentialHint = '',
): { url: URL; isAllowed: boolean } {
  const url = URL.parse(text);
  if (!url) throw fieldError('/url', 'invalid_url', 'url must be an absolute URL.');
  const host = withoutBrackets(url.hostname);
  const isAllowed = createAllowList(allow)(host, host);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isAllowed))
    throw fieldError(
      '/url',
      'https_needed',
      'url must start with https://. http:// requires the host to be listed in TOCSIN_FETCH_ALLOW.',
    );
  if (url.username || url.password)
    throw fieldError('/url', 'invalid_url', `url must not contain a user name or password.${credentialHint}`);
  return { url, isAllowed };
}
