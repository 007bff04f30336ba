import { createHmac, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { createServer } from 'node:http';
import { atFileEnd } from './at-file-end.ts';
import { closeServer, listen } from './listen.ts';

type Token = { header: Record<string, unknown>; claims: Record<string, unknown>; sign: (data: string) => Buffer };

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
/** A key that the provider does not publish. */
const foreign = generateKeyPairSync('rsa', { modulusLength: 2048 });
const publicPem = rsa.publicKey.export({ type: 'spki', format: 'pem' });

export const clientSecret = 'a secret that the provider and the client share';
export const signatures = {
  rsa: (data: string) => sign('sha256', Buffer.from(data), rsa.privateKey),
  ec: (data: string) => sign('sha256', Buffer.from(data), { key: ec.privateKey, dsaEncoding: 'ieee-p1363' }),
  foreign: (data: string) => sign('sha256', Buffer.from(data), foreign.privateKey),
  secret: (data: string) => createHmac('sha256', clientSecret).update(data).digest(),
  /** The public key as if it were a secret. */
  publicKey: (data: string) => createHmac('sha256', publicPem).update(data).digest(),
  none: () => Buffer.alloc(0),
};

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const jwkOf = (key: KeyObject, kid: string) => ({ ...key.export({ format: 'jwk' }), kid, use: 'sig' });

/**
 * Starts an OpenID Connect provider that sends whatever ID token a test sets. It lists algorithms that no provider should: `none` and those
 * with a shared secret.
 */
export async function startMisbehavingProvider() {
  const token: { current?: Token } = {};
  const server = createServer((request, response) => {
    const reply = (body: object) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    if (request.url === '/.well-known/openid-configuration')
      return reply({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256', 'ES256', 'HS256', 'none'],
      });
    if (request.url === '/keys') return reply({ keys: [jwkOf(rsa.publicKey, 'rsa'), jwkOf(ec.publicKey, 'ec')] });
    const { header, claims, sign: signToken } = token.current!;
    const data = `${encode(header)}.${encode(claims)}`;
    const signed = `${data}.${signToken(data).toString('base64url')}`;
    return reply({ access_token: 'a', token_type: 'bearer', expires_in: 60, id_token: signed });
  });
  const issuer = (await listen(server)).replace('127.0.0.1', 'localhost');
  atFileEnd(() => closeServer(server));
  return { issuer, token };
}
