import { expect, test } from 'vitest';
import { startApp } from '../../../../test/support/harness.ts';
import { boundCredential } from '../../orgs/credentials.ts';
import { createKey, revokeKey } from '../../orgs/keys.ts';
import { operatorOf, type Caller } from '../../http/caller.ts';
import { inOrg } from '../../db/db.ts';
import { uuidv7 } from '../../lib/ids.ts';
import { insertSession } from '../../orgs/sessions/sessions.store.ts';
import { createCallerCheck } from './stream-events.ts';

const { deps, newOrg } = await startApp();
const isActive = createCallerCheck(deps);

test('reports that a revoked key and an unknown session have ended', async () => {
  const { id: orgId } = await newOrg();
  const admin: Caller = operatorOf(orgId);
  const { id: keyId } = await createKey(deps, admin, { name: 'stream', scopes: ['detections:read'] });
  const caller: Caller = { ...admin, keyId };
  expect([await isActive(admin), await isActive(caller)]).toEqual([true, true]);
  const sessionId = uuidv7();
  const now = new Date();
  const worth = boundCredential(caller, { scopes: [], expiresAt: new Date(now.getTime() + 60_000) });
  const session = { id: sessionId, token_hash: Buffer.from(sessionId), person_id: null, key_id: keyId, subject: 'x' };
  await inOrg(deps.db, orgId, (tx) =>
    insertSession(tx, worth, { ...session, created_at: now, credential_expires_at: null }),
  );
  expect(await isActive({ ...caller, sessionId })).toBe(true);
  await revokeKey({ ...deps, forgetKey: () => undefined }, admin, keyId);
  expect([await isActive(caller), await isActive({ ...caller, sessionId })]).toEqual([false, false]);
  expect(await isActive({ ...admin, sessionId: '00000000-0000-7000-8000-000000000001' })).toBe(false);
  expect(await isActive({ ...caller, orgId: (await newOrg()).id })).toBe(false);
});
