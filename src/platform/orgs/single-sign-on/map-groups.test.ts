import { expect, test } from 'vitest';
import { mapGroups, readGroups } from './map-groups.ts';
import type { GroupGrants } from './oidc-settings.ts';

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
