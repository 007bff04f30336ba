import { expect, test } from 'vitest';
import { clientSecret, signatures, startMisbehavingProvider } from '../../../../test/support/misbehaving-provider.ts';
import { createIdentityProvider } from './identity-provider.ts';

const { issuer, token } = await startMisbehavingProvider();
const settings = {
  issuer,
  clientId: 'tocsin',
  clientSecret,
  scope: 'openid',
  groupsClaim: 'groups',
  groups: {},
  publicUrl: 'https://tocsin.example.com',
};
const client = createIdentityProvider(settings, ['localhost']);
const now = Math.floor(Date.now() / 1000);

type Tampering = { header?: object; claims?: object; sign?: (data: string) => Buffer };

/** Signs in with an ID token that is valid except for the tampering. */
async function signIn({ header, claims, sign = signatures.rsa }: Tampering = {}) {
  const { attempt } = await client.start('/console/');
  const valid = { iss: issuer, aud: 'tocsin', sub: 'ada', nonce: attempt.nonce, iat: now, exp: now + 600, groups: ['soc'] };
  token.current = { header: { alg: 'RS256', kid: 'rsa', ...header }, claims: { ...valid, ...claims }, sign };
  return client.finish(new URLSearchParams({ code: 'c', state: attempt.state }), attempt);
} // prettier-ignore

test.each<[string, Tampering]>([
  ['RS256', {}],
  ['ES256', { header: { alg: 'ES256', kid: 'ec' }, sign: signatures.ec }],
])('accepts a token signed with %s by a key of the provider', async (_name, tampering) => {
  expect(await signIn(tampering)).toEqual({ issuer, subject: 'ada', name: 'ada', groups: ['soc'] });
});

test.each<[string, Tampering]>([
  ['another key', { sign: signatures.foreign }],
  ['a key that the provider does not publish', { header: { kid: 'foreign' }, sign: signatures.foreign }],
  ['no signature', { sign: signatures.none }],
  ['alg none, which the provider lists', { header: { alg: 'none' }, sign: signatures.none }],
  ['alg None', { header: { alg: 'None' }, sign: signatures.none }],
  ['the shared secret, whose algorithm the provider lists', { header: { alg: 'HS256' }, sign: signatures.secret }],
  ['the public key as a secret', { header: { alg: 'HS256' }, sign: signatures.publicKey }],
  ['an algorithm that the provider does not list', { header: { alg: 'PS256' } }],
  ['an algorithm of another key', { header: { alg: 'ES256' } }],
  ['another issuer', { claims: { iss: 'https://elsewhere.example' } }],
  ['another client', { claims: { aud: 'another' } }],
  ['several clients and another authorized party', { claims: { aud: ['tocsin', 'b'], azp: 'b' } }],
  ['another nonce', { claims: { nonce: 'another' } }],
  ['no nonce', { claims: { nonce: undefined } }],
  ['an end in the past', { claims: { exp: now - 600 } }],
  ['no end', { claims: { exp: undefined } }],
  ['a beginning in the future', { claims: { nbf: now + 600 } }],
  ['no subject', { claims: { sub: undefined } }],
])('refuses a token with %s', async (_name, tampering) => {
  await expect(signIn(tampering)).rejects.toThrow();
});
