import { sql } from 'kysely';
import { expect, test, vi } from 'vitest';
import { newOrgId, testDatabase } from '../../../test/support/database.ts';
import { acrossOrgs } from '../db/db.ts';
import { createKeyAuthenticator } from './authenticate.ts';
import { operatorOf } from '../http/caller.ts';
import { createKey } from './keys.ts';

const { db } = await testDatabase();

test('trusts a key that another process revoked for five seconds', async () => {
  const caller = operatorOf(await newOrgId(db));
  const { key } = await createKey({ db }, caller, { name: 'short-lived', scopes: ['feed:read'] });
  const header = `Bearer ${key}`;
  const authenticator = createKeyAuthenticator(db);
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    expect(await authenticator.findCaller(header)).toMatchObject({ orgId: caller.orgId });
    await acrossOrgs(db, (tx) =>
      sql`update api_keys set revoked_at = now() where organization_id = ${caller.orgId}`.execute(tx),
    );
    vi.advanceTimersByTime(4_999);
    expect(authenticator.findCachedCaller(header)).toMatchObject({ orgId: caller.orgId });
    vi.advanceTimersByTime(1);
    expect(authenticator.findCachedCaller(header)).toBeUndefined();
    expect(await authenticator.findCaller(header)).toBeUndefined();
  } finally {
    vi.useRealTimers();
  }
});
