import { afterAll, expect, test } from 'vitest';
import { startReceiver } from '../../../test/support/platform/webhook-receiver.ts';
import { createSecretbox } from '../lib/secretbox.ts';
import type { ClaimedDelivery } from './deliveries.store.ts';
import { attemptDelivery } from './delivery-attempt.ts';
import { sealSecrets } from './destination-secrets.ts';

const secrets = createSecretbox({
  secretKey: 'k'.repeat(32),
  previousSecretKey: undefined,
  dataDir: '',
  databaseUrl: undefined,
});
const receiver = await startReceiver();
afterAll(() => receiver.close());
const destination = { organization_id: 'o', id: 'destination' };

const attempt = (data: object, publicUrl: string | null, fields: Partial<ClaimedDelivery> = {}) => {
  receiver.received.length = 0;
  return attemptDelivery({ secrets, config: { fetchAllow: ['127.0.0.1'], publicUrl } }, {
    ...destination,
    destination_id: 'destination',
    kind: 'webhook',
    settings: {},
    sealed: sealSecrets(secrets, destination, { url: receiver.url, secret: null }),
    event_id: 'e',
    event_type: 'hit.created',
    resource_id: 'r',
    tries: 1,
    tries_max: 10,
    body: JSON.stringify({ id: 'e', type: 'hit.created', revision: 2, data }),
    ticket: null,
    ...fields,
  } as ClaimedDelivery); // prettier-ignore
};

test.each([
  ['https://soc.example/tocsin', { url: '/console/hits/1' }, { url: 'https://soc.example/tocsin/console/hits/1' }],
  [null, { url: '/console/hits/1' }, { url: null }],
  ['https://soc.example', { url: 'https://other.example/x' }, { url: 'https://other.example/x' }],
  [
    'https://soc.example',
    { url: 5, rows: [{ url: '/console/hits/1' }] },
    { url: 5, rows: [{ url: '/console/hits/1' }] },
  ],
  ['https://soc.example', {}, {}],
])('resolves the link of an event at %s: %j', async (publicUrl, data, expected) => {
  expect(await attempt(data, publicUrl)).toMatchObject({ state: 'delivered' });
  expect(JSON.parse(receiver.received[0]!.body).data).toEqual(expected);
});

test('sends no state that a later one has overtaken, and repeats no event that the destination refuses', async () => {
  const sealed = sealSecrets(secrets, destination, {
    url: receiver.url,
    secret: null,
    credentials: { routingKey: 'secret' },
  });
  const pager = { kind: 'pagerduty', sealed } as const;
  const stored = { reference: 'key', state: 'open', revision: 3 } as const;
  expect(await attempt({}, null, { ...pager, ticket: stored })).toMatchObject({ state: 'delivered', ticket: null });
  expect(receiver.received).toEqual([]);
  receiver.reply(() => ({ status: 400, body: '{"status":"invalid event"}' }));
  expect(await attempt({}, null, pager)).toMatchObject({ state: 'failed', pauseMs: null, status: 400 });
  receiver.reply(() => ({ status: 429, headers: { 'retry-after': '600' } }));
  const limited = await attempt({}, null, pager);
  expect(limited.state).toBe('pending');
  expect(limited.pauseMs).toBeGreaterThanOrEqual(600_000);
  receiver.reply(() => ({ status: 307, headers: { location: receiver.url.replace('127.0.0.1', 'localhost') } }));
  expect(await attempt({}, null, pager)).toMatchObject({ error: expect.stringContaining('credentials') });
  expect(receiver.received).toHaveLength(1);
});
