import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { acrossOrgs } from '../db/db.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { root, until } from '../../../test/support/program.ts';
import { deliverDue, deliverLoop } from './deliver.ts';
import { startReceiver } from '../../../test/support/platform/webhook-receiver.ts';

const env = {
  TOCSIN_FETCH_ALLOW: '127.0.0.1',
  TOCSIN_LOG_LEVEL: 'fatal',
  TOCSIN_SECRET_KEY: 'a key that both processes share with each other',
};
const { deps, newOrg, url, dataDir } = await startApp({ env });
const [slow, quick] = [await startReceiver(), await startReceiver()];
afterAll(() => Promise.all([slow.close(), quick.close()]));
beforeEach(() => acrossOrgs(deps.db, (tx) => sql`delete from destinations`.execute(tx)));

const detection = { name: 'x', detectionCategory: 'custom', systemPrompt: 'x', detectionQuery: 'SELECT 1' };
const newDestination = async (org: TestOrg, address: string): Promise<string> =>
  (
    await org.call('POST', '/api/destinations', {
      kind: 'webhook',
      name: 'x',
      url: address,
      eventTypes: ['detection.created'],
    })
  ).body.id;
const listLog = async (org: TestOrg, id: string) =>
  (await org.call('GET', `/api/destinations/${id}/deliveries`)).body.deliveries;

test('sends the delivery of a killed process from another one, with the same ID and body', async () => {
  const org = await newOrg();
  const id = await newDestination(org, slow.url);
  await org.call('POST', '/api/detections', detection);
  slow.reply(() => 'hang');
  const child = fork(join(root, 'test/support/cluster/deliver-worker.ts'), {
    env: { PATH: process.env['PATH'] ?? '', DATABASE_URL: url, TOCSIN_DATA_DIR: dataDir, ...env },
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  await until(
    () => slow.received.length > 0,
    () => 'the process has not delivered anything',
  );
  child.kill('SIGKILL');
  await once(child, 'exit');
  slow.reply(() => ({ status: 200 }));
  // The lease of the killed process is still valid.
  expect(await deliverDue(deps)).toBe(0);
  expect(slow.received).toHaveLength(1);
  const stop = new AbortController();
  const loop = deliverLoop(deps, stop.signal);
  await acrossOrgs(deps.db, (tx) =>
    sql`update deliveries set next_try_at = next_try_at - interval '61 seconds'`.execute(tx),
  );
  await until(
    async () => (await listLog(org, id))[0].state === 'delivered',
    () => 'no other process has taken over the delivery',
  );
  stop.abort();
  await loop;
  expect(slow.received).toHaveLength(2);
  const [first, second] = slow.received.map(({ headers, body }) => [headers['webhook-id'], body]);
  expect(second).toEqual(first);
});

test('does not delay other destinations when one hangs, and does not count attempts stopped at shutdown', async () => {
  const org = await newOrg();
  slow.reply(() => 'hang');
  slow.received.length = 0;
  const hanging = await newDestination(org, slow.url);
  for (let n = 0; n < 10; n += 1) await org.call('POST', '/api/detections', detection);
  const other = await newDestination(org, quick.url);
  await org.call('POST', '/api/detections', detection);
  const stop = new AbortController();
  const loop = deliverLoop(deps, stop.signal);
  await until(
    () => quick.received.length === 1 && slow.received.length === 4,
    () => `${quick.received.length} and ${slow.received.length}`,
  );
  stop.abort();
  await loop;
  expect(await listLog(org, other)).toMatchObject([{ state: 'delivered', tries: 1 }]);
  const waiting = await listLog(org, hanging);
  expect(waiting).toHaveLength(11);
  for (const entry of waiting) {
    expect(entry).toMatchObject({ state: 'pending', tries: 0 });
    expect(new Date(entry.nextTryAt).getTime()).toBeLessThanOrEqual(Date.now() + 1000);
  }
});
