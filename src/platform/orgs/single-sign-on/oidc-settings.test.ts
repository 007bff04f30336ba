import { expect, test } from 'vitest';
import { loadConfig } from '../../../config.ts';
import { mapGroups, readGroups, type GroupGrants } from './oidc-settings.ts';

const complete = {
  TOCSIN_PUBLIC_URL: 'https://tocsin.example.com/',
  TOCSIN_OIDC_ISSUER: 'https://id.example.com/realms/main',
  TOCSIN_OIDC_CLIENT_ID: 'tocsin',
  TOCSIN_OIDC_GROUPS: '{"soc": {"scopes": ["hits:read"]}}',
};

test('reads the settings, with the organization default', () => {
  expect(loadConfig(complete).oidc).toEqual({
    issuer: 'https://id.example.com/realms/main',
    clientId: 'tocsin',
    clientSecret: undefined,
    scope: 'openid email profile',
    groupsClaim: 'groups',
    groups: { soc: { organization: 'default', scopes: ['hits:read'] } },
    publicUrl: 'https://tocsin.example.com',
  });
  expect(loadConfig({}).oidc).toBeNull();
  const withRole = '{"soc": {"role": "viewer", "scopes": ["logs:write", "hits:read"]}}';
  expect(loadConfig({ ...complete, TOCSIN_OIDC_GROUPS: withRole }).oidc?.groups).toEqual({
    soc: { organization: 'default', scopes: ['hits:read', 'detections:read', 'feed:read', 'logs:write'] },
  });
});

test.each([
  [{ TOCSIN_OIDC_CLIENT_ID: '' }, 'TOCSIN_OIDC_CLIENT_ID: required for single sign-on'],
  [{ TOCSIN_OIDC_GROUPS: '' }, 'TOCSIN_OIDC_GROUPS: required for single sign-on'],
  [{ TOCSIN_PUBLIC_URL: '', HOST: '0.0.0.0' }, 'TOCSIN_PUBLIC_URL: required for single sign-on'],
  [{ TOCSIN_OIDC_ISSUER: 'http://id.example.com' }, 'TOCSIN_OIDC_ISSUER: must begin with https://'],
  [{ TOCSIN_OIDC_ISSUER: 'http://localhost.example.com' }, 'TOCSIN_OIDC_ISSUER: must begin with https://'],
  [{ TOCSIN_OIDC_GROUPS: '{"soc": {"scopes": ["all"]}}' }, 'TOCSIN_OIDC_GROUPS: soc.scopes.0'],
  [{ TOCSIN_OIDC_GROUPS: '{"soc": {}}' }, 'TOCSIN_OIDC_GROUPS: soc: needs a role or scopes'],
  [{ TOCSIN_OIDC_SCOPES: 'email' }, 'TOCSIN_OIDC_SCOPES: must include openid'],
])('rejects %j', (change, message) => {
  expect(() => loadConfig({ ...complete, ...change })).toThrow(message);
});

const mapped: GroupGrants = {
  soc: { organization: 'acme', scopes: ['hits:read'] },
  leads: { organization: 'acme', scopes: ['hits:read', 'keys:admin'] },
  partner: { organization: 'globex', scopes: ['feed:read'] },
};

test.each([
  [['soc'], { organization: 'acme', scopes: ['hits:read'] }],
  [['leads', 'soc'], { organization: 'acme', scopes: ['hits:read', 'keys:admin'] }],
  [['partner', 'soc'], { organization: 'acme', scopes: ['hits:read'] }],
  [['partner', 'everyone'], { organization: 'globex', scopes: ['feed:read'] }],
  [['SOC'], undefined],
  [['toString', 'constructor', '__proto__'], undefined],
  [[], undefined],
])('grants the groups %j %j', (groups, grant) => {
  expect(mapGroups(mapped, groups)).toEqual(grant);
});

test.each([
  [undefined, undefined],
  [null, undefined],
  ['soc', ['soc']],
  [
    ['soc', 7, null, 'leads'],
    ['soc', 'leads'],
  ],
  [{ soc: true }, []],
])('reads the groups of the claim %j', (claim, groups) => {
  expect(readGroups(claim)).toEqual(groups);
});
