import { sql } from 'kysely';
import { beforeEach, expect } from 'vitest';
import { atFileEnd } from '../at-file-end.ts';
import { acrossOrgs } from '../../../src/platform/db/db.ts';
import { eventTypes } from '../../../src/platform/notifications/event-types.ts';
import { startApp, type TestOrg } from '../harness.ts';
import { startReceiver } from './webhook-receiver.ts';

/** Starts the program and a receiver for a test file. Each test begins without destinations and recorded requests. */
export async function startDestinationTests() {
  const { deps, newOrg } = await startApp({ env: { TOCSIN_FETCH_ALLOW: '127.0.0.1', TOCSIN_LOG_LEVEL: 'fatal' } });
  const receiver = await startReceiver();
  atFileEnd(() => receiver.close());
  beforeEach(async () => {
    receiver.received.length = 0;
    receiver.reply(() => ({ status: 200 }));
    await acrossOrgs(deps.db, (tx) => sql`delete from destinations`.execute(tx));
  });
  const newDestination = async (org: TestOrg, fields: Record<string, unknown> = {}) => {
    const body = { kind: 'webhook', name: 'SOC', url: receiver.url, eventTypes, ...fields };
    const response = await org.call('POST', '/api/destinations', body);
    expect(response.status, JSON.stringify(response.body)).toBe(200);
    return response.body;
  };
  return { deps, newOrg, newDestination, receiver };
}
