import { expect, test } from 'vitest';
import { startApp } from '../../../../test/support/harness.ts';
import { createKey, revokeKey } from '../../orgs/keys.ts';
import { scopes, type Caller } from '../../orgs/caller.ts';
import { inOrg } from '../../db/db.ts';
import { uuidv7 } from '../../lib/ids.ts';
import { insertSession } from '../../orgs/sessions/sessions.store.ts';
import { createCallerCheck } from './is-caller-active.ts';

const { deps, newOrg } = await startApp();
const isActive = createCallerCheck(deps);

test('reports that a revoked key and an unknown session have ended', async () => {
  const { id: orgId } = await newOrg();
  const admin: Caller = { orgId, keyId: null, scopes: new Set<string>(scopes) };
  const { id: keyId } = await createKey(deps, admin, { name: 'stream', scopes: ['detections:read'] });
  const caller: Caller = { ...admin, keyId };
  expect([await isActive(admin), await isActive(caller)]).toEqual([true, true]);
  const sessionId = uuidv7();
  const now = new Date();
  const session = {
    id: sessionId,
    organization_id: orgId,
    token_hash: Buffer.from(sessionId),
    key_id: keyId,
    subject: 'x',
    scopes: [],
  };
  await inOrg(deps.db, orgId, (tx) =>
    insertSession(tx, { ...session, created_at: now, expires_at: new Date(now.getTime() + 60_000) }),
  );
  expect(await isActive({ ...caller, sessionId })).toBe(true);
  await revokeKey({ ...deps, forgetKey: () => undefined }, admin, keyId);
  expect([await isActive(caller), await isActive({ ...caller, sessionId })]).toEqual([false, false]);
  expect(await isActive({ ...admin, sessionId: '00000000-0000-7000-8000-000000000001' })).toBe(false);
  expect(await isActive({ ...caller, orgId: (await newOrg()).id })).toBe(false);
});
