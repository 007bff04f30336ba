import { createServer, type AddressInfo } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, expect, test } from 'vitest';
import { inOrg } from '../../src/platform/db/db.ts';
import { deliverDue } from '../../src/platform/notifications/deliver.ts';
import { emitEvents } from '../../src/platform/notifications/emit-events.ts';
import { certificate, privateKey } from '../support/detection/siem/tls-certificate.ts';
import { startApp } from '../support/harness.ts';
import { startReceiver } from '../support/platform/webhook-receiver.ts';

// The service receives logs by these protocols itself, so it is the other side of its own destinations.
const { app, deps, newOrg } = await startApp({ env: { TOCSIN_FETCH_ALLOW: '127.0.0.1', TOCSIN_LOG_LEVEL: 'fatal' } });
const base = await app.listen({ port: 0, host: '127.0.0.1' });
const org = await newOrg();
const receiver = await startReceiver();
afterAll(() => receiver.close());

const create = async (fields: object) => {
  const { status, body } = await org.call('POST', '/api/destinations', { name: 'Logs', ...fields });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.id as string;
};
const send = async (id: string) => (await org.call('POST', `/api/destinations/${id}/test`)).body;
const data = { id: 'i', title: 'ada and 2 others', severity: 'high', state: 'open', hits: 3, score: 0.5, none: null };
const emit = () =>
  inOrg(deps.db, org.id, (tx) =>
    emitEvents(tx, [org.id], ['incident.created'], () => [
      { orgId: org.id, type: 'incident.created', resourceId: 'i', revision: 1, data },
    ]),
  );

async function select(query: string): Promise<unknown[]> {
  const window = { from: '1990-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' };
  const { status, body } = await org.call('POST', '/api/logs/search', { query, ...window });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.rows;
}

test('stores an event by each protocol once, however often it is delivered', async () => {
  const ids = [
    await create({ kind: 'splunk', url: `${base}/services/collector/event`, credentials: { token: org.key } }),
    await create({
      kind: 'elasticsearch',
      url: `${base}/elasticsearch/`,
      credentials: { apiKey: org.key },
      settings: { index: 'logs-elastic-default' },
    }),
    await create({ kind: 'otlp', url: `${base}/v1/logs`, credentials: { headerValue: `Bearer ${org.key}` } }),
  ];
  await emit();
  expect(await deliverDue(deps)).toBe(3);
  for (const id of ids) {
    const [one] = (await org.call('GET', `/api/destinations/${id}/deliveries`)).body.deliveries;
    expect(one).toMatchObject({ state: 'delivered', lastStatus: 200 });
    await org.call('POST', `/api/destinations/${id}/deliveries/${one.id}/redeliver`);
  }
  expect(await deliverDue(deps)).toBe(3);
  const title = 'ada and 2 others';
  const once = [{ type: 'incident.created', title }];
  expect(await select('select type, data.title as title from tocsin_event')).toEqual(once);
  expect(await select('select type, data.title as title from tocsin')).toEqual(once);
  expect(await select('select message, event.action as action, event.severity as severity from tocsin_events')).toEqual(
    [{ message: `New incident: ${title}`, action: 'incident.created', severity: 73 }],
  );
  for (const id of ids) await org.call('DELETE', `/api/destinations/${id}`);
});

const ok = { status: 200, body: '{}' };
test.each([
  ['splunk', { token: 'x' }, 400, { text: 'Invalid data format', code: 6 }, 400, 'failed'],
  ['splunk', { token: 'x' }, 400, { text: 'Incorrect index', code: 7 }, 400, 'pending'],
  ['splunk', { token: 'x' }, 503, { text: 'Server is busy', code: 9 }, 503, 'pending'],
  ['elasticsearch', { apiKey: 'x' }, 200, { errors: false }, 200, 'delivered'],
  ['elasticsearch', { apiKey: 'x' }, 200, { errors: true, items: [{ create: { status: 409 } }] }, 200, 'delivered'],
  ['elasticsearch', { apiKey: 'x' }, 200, { errors: true, items: [{ create: { status: 429 } }] }, 429, 'pending'],
  ['elasticsearch', { apiKey: 'x' }, 200, { errors: true, items: [{ create: { status: 400 } }] }, 400, 'failed'],
  ['elasticsearch', { apiKey: 'x' }, 200, 'a page to sign in', 200, 'pending'],
  ['otlp', {}, 200, { partialSuccess: {} }, 200, 'delivered'],
  ['otlp', {}, 200, { partialSuccess: { rejectedLogRecords: '1', errorMessage: 'no' } }, 200, 'failed'],
  ['otlp', {}, 503, {}, 503, 'pending'],
  ['otlp', {}, 400, {}, 400, 'failed'],
])('reads the response of %s with %j and %i %j', async (kind, credentials, status, body, lastStatus, state) => {
  const id = await create({ kind, url: receiver.url, credentials });
  receiver.reply(() => ({ ...ok, status, body: JSON.stringify(body) }));
  await emit();
  expect(await deliverDue(deps)).toBe(1);
  const [delivery] = (await org.call('GET', `/api/destinations/${id}/deliveries`)).body.deliveries;
  expect(delivery).toMatchObject({ state, lastStatus });
  await org.call('DELETE', `/api/destinations/${id}`);
});

test('writes syslog with counted octets over TLS and TCP, and only to a host whose certificate is trusted', async () => {
  const received: string[] = [];
  const read = (socket: NodeJS.ReadableStream): void => {
    const chunks: Buffer[] = [];
    socket
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => received.push(Buffer.concat(chunks).toString()));
  };
  const tls = createTlsServer({ cert: certificate, key: privateKey }, read);
  const tcp = createServer(read);
  const servers = [tls, tcp];
  for (const server of servers) await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  const [tlsPort, tcpPort] = servers.map((server) => (server.address() as AddressInfo).port);
  const ids = [
    await create({ kind: 'syslog', url: `tcp://127.0.0.1:${tcpPort}` }),
    await create({ kind: 'syslog', url: `tls://127.0.0.1:${tlsPort}`, settings: { caCertificate: certificate } }),
    await create({ kind: 'syslog', url: `tls://127.0.0.1:${tlsPort}` }),
  ];
  const results = [];
  for (const id of ids) results.push(await send(id));
  expect(results).toMatchObject([
    { state: 'delivered', lastStatus: null },
    { state: 'delivered' },
    { state: 'failed', lastError: expect.stringContaining('self-signed') },
  ]);
  expect(received).toHaveLength(2);
  for (const text of received) {
    const [, length, message = ''] = /^(\d+) (.*)$/s.exec(text)!;
    expect(Number(length)).toBe(Buffer.byteLength(message));
    const [, event = ''] = /^<132>1 \S+Z - tocsin - destination\.test - \ufeff(.*)$/s.exec(message)!;
    expect(JSON.parse(event)).toMatchObject({ type: 'destination.test', organizationId: org.id });
  }
  for (const server of servers) server.close();
  expect(await send(ids[0]!)).toMatchObject({
    state: 'failed',
    lastError: expect.stringContaining('cannot be reached'),
  });
  const reject = async (url: string, kind = 'syslog') => {
    const { status, body } = await org.call('POST', '/api/destinations', { kind, name: 'x', url });
    return [status, body.errors?.[0].code];
  };
  expect(await reject('tcp://logs.example.com:601')).toEqual([400, 'https_needed']);
  expect(await reject('tls://10.1.2.3:6514')).toEqual([400, 'private_address']);
  expect(await reject('tls://logs.example.com')).toEqual([400, 'invalid_url']);
  expect(await reject('https://logs.example.com:6514')).toEqual([400, 'invalid_url']);
  expect(await reject('smtp://10.1.2.3:587', 'email')).toEqual([400, 'private_address']);
  expect(await reject('constructor://mail.example.com:25', 'email')).toEqual([400, 'invalid_url']);
});
