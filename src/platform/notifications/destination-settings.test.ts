import { expect, test } from 'vitest';
import { inOrg, queryRows } from '../db/db.ts';
import { startDestinationTests } from '../../../test/support/platform/destination-tests.ts';
import { isSigned } from '../../../test/support/platform/webhook-receiver.ts';

const { deps, newOrg, newDestination, receiver } = await startDestinationTests();

type JsonObject = Record<string, unknown>;

test('returns secrets once, stores them sealed and rotates them with an overlap', async () => {
  const org = await newOrg();
  const made = await newDestination(org);
  expect(made.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect((await org.call('GET', `/api/destinations/${made.id}`)).body).not.toHaveProperty('secret');
  const stored = await inOrg(deps.db, org.id, (tx) => queryRows<JsonObject>(tx)`select * from destinations`);
  expect(JSON.stringify(stored)).not.toContain(made.secret);
  const { secret } = (await org.call('POST', `/api/destinations/${made.id}/rotate`)).body;
  expect(secret).not.toBe(made.secret);
  await org.call('POST', `/api/destinations/${made.id}/test`);
  expect([made.secret, secret].map((one) => isSigned(receiver.received[0]!, one))).toEqual([true, true]);
  await org.call('POST', `/api/destinations/${made.id}/rotate`, { overlapSeconds: 0 });
  await org.call('POST', `/api/destinations/${made.id}/test`);
  expect([made.secret, secret].map((one) => isSigned(receiver.received[1]!, one))).toEqual([false, false]);
  const audit = JSON.stringify((await org.call('GET', '/api/audit')).body);
  for (const one of [made.secret, secret]) expect(audit).not.toContain(one);
});

test('masks the URL of a chat destination and accepts the masked URL back', async () => {
  const org = await newOrg();
  const secretPath = `${receiver.url}/T000/B000/verysecret`;
  const made = await newDestination(org, { kind: 'slack', url: secretPath });
  expect(made).toMatchObject({ secret: null, url: `${new URL(receiver.url).origin}/…` });
  const shown = (await org.call('GET', `/api/destinations/${made.id}`)).body;
  expect((await org.call('PUT', `/api/destinations/${made.id}`, { ...shown, name: 'Chat' })).body.name).toBe('Chat');
  expect((await org.call('POST', `/api/destinations/${made.id}/test`)).body.state).toBe('delivered');
  expect(receiver.received[0]!.path).toContain('verysecret');
  expect(JSON.stringify((await org.call('GET', '/api/audit')).body)).not.toContain('verysecret');
  expect((await org.call('POST', `/api/destinations/${made.id}/rotate`)).status).toBe(409);
});

test.each([
  ['http://203.0.113.9/', 'https_needed'],
  ['https://10.1.2.3/', 'private_address'],
  ['https://[::1]/', 'private_address'],
  ['https://169.254.169.254/latest', 'private_address'],
  ['https://user:pass@hooks.example.com/', 'invalid_url'],
  ['ftp://hooks.example.com/', 'https_needed'],
  ['nonsense', 'invalid_url'],
])('rejects the URL %s', async (url, code) => {
  const org = await newOrg();
  const answer = await org.call('POST', '/api/destinations', { kind: 'webhook', name: 'x', url });
  expect([answer.status, answer.body.errors[0].pointer, answer.body.errors[0].code]).toEqual([400, '/url', code]);
});

test('follows redirects that keep the method, but not to a private address', async () => {
  const org = await newOrg();
  const { id, secret } = await newDestination(org);
  const send = async () => (await org.call('POST', `/api/destinations/${id}/test`)).body;
  receiver.reply(({ path }) => (path === '/hook' ? { status: 308, headers: { location: '/moved' } } : { status: 200 }));
  expect((await send()).state).toBe('delivered');
  expect([receiver.received[1]!.path, isSigned(receiver.received[1]!, secret)]).toEqual(['/moved', true]);
  receiver.reply(() => ({ status: 307, headers: { location: 'http://127.0.0.2:9/' } }));
  expect(await send()).toMatchObject({ state: 'failed', lastError: expect.stringContaining('not a public address') });
  receiver.reply(() => ({ status: 302, headers: { location: '/moved' } }));
  expect(await send()).toMatchObject({ state: 'failed', lastStatus: 302 });
});

test('sends a test event in one attempt, even to a disabled destination', async () => {
  const org = await newOrg();
  const { id } = await newDestination(org, { enabled: false });
  receiver.reply(() => ({ status: 500, body: 'broken' }));
  expect((await org.call('POST', `/api/destinations/${id}/test`)).body).toMatchObject({
    state: 'failed',
    tries: 1,
    nextTryAt: null,
    lastStatus: 500,
    lastError: 'status 500: broken',
    eventType: 'destination.test',
  });
});
