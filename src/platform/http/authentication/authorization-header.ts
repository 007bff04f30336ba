import type { FastifyContextConfig } from 'fastify';

/**
 * Converts an Authorization header to a Bearer header, if the route accepts its scheme: Basic (RFC 7617) with the key as password,
 * Elasticsearch's `ApiKey` with the key after the colon of the decoded text, or the key itself, and `Splunk` with the key as token.
 */
export function toBearerHeader(
  header: string | undefined,
  { acceptsBasicAuth, acceptsShipperAuth }: Pick<FastifyContextConfig, 'acceptsBasicAuth' | 'acceptsShipperAuth'>,
): string | undefined {
  const [, scheme = '', credentials = ''] = /^(basic|apikey|splunk) +(\S{1,2000})$/i.exec(header ?? '') ?? [];
  const key = readKey(scheme.toLowerCase(), credentials);
  const isAccepted = acceptsShipperAuth || (acceptsBasicAuth && scheme.toLowerCase() === 'basic');
  return key !== undefined && isAccepted ? `Bearer ${key}` : header;
}

function readKey(scheme: string, credentials: string): string | undefined {
  if (scheme === 'splunk') return credentials;
  const decoded = Buffer.from(credentials, 'base64');
  const [, afterColon] = /^[^:]*:(.*)$/s.exec(decoded.toString()) ?? [];
  if (scheme === 'basic') return afterColon;
  if (scheme !== 'apikey') return undefined;
  // Characters of a key can be read as base64 as well, and the result may contain a colon.
  const isEncoded = decoded.toString('base64') === credentials && /^[ -~]+$/.test(decoded.toString());
  return isEncoded && afterColon !== undefined ? afterColon : credentials;
}
