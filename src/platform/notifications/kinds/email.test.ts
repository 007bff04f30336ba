import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { mailLogin, startMailServer } from '../../../../test/support/platform/mail-server.ts';
import { sendMail } from '../../lib/outbound-http/send-mail.ts';
import { createSecretbox } from '../../lib/secretbox.ts';
import { attemptDelivery } from '../delivery-attempt.ts';
import { sealSecrets } from '../destination-secrets.ts';
import type { ClaimedDelivery } from '../deliveries.store.ts';
import { email } from './email.ts';

const secrets = createSecretbox({
  secretKey: 'k'.repeat(32),
  previousSecretKey: undefined,
  dataDir: '',
  databaseUrl: undefined,
});
const server = await startMailServer();
const encrypted = await startMailServer({ secure: true });
const withoutTls = await startMailServer({ disabledCommands: ['STARTTLS'] });
const withoutLogin = await startMailServer({ disabledCommands: ['AUTH'] });
const servers = [server, encrypted, withoutTls, withoutLogin];
afterAll(() => Promise.all(servers.map((one) => one.close())));
beforeEach(() => {
  for (const { received } of servers) received.length = 0;
});

const destination = { organization_id: 'o', id: 'destination' };
const event = {
  id: '0197a9c2-5a00-7000-8000-000000000001',
  type: 'incident.created',
  timestamp: '2026-01-05T09:00:00.000Z',
  organizationId: 'o',
  revision: 1,
  data: {
    title: 'Ünusual sign-in\r\nBcc: eve@evil.example',
    severity: 'high',
    state: 'open',
    summary: 'See https://evil.example/<b>\nand www.evil.example',
    url: '/console/incidents/1',
  },
};

type Options = { url?: string; settings?: object; login?: object; event?: object; signal?: AbortSignal };

/** Delivers an event to the server with STARTTLS, unless `url` is that of another. */
function deliver({ url = server.url, settings = {}, login, signal, event: changed = {} }: Options = {}) {
  const config = { fetchAllow: ['127.0.0.1'], publicUrl: 'https://soc.example' };
  return attemptDelivery({ secrets, config }, {
    ...destination,
    destination_id: 'destination',
    kind: 'email',
    settings: email.settings.parse({ ...server.settings, ...settings }),
    sealed: sealSecrets(secrets, destination, { url, secret: null, ...(login && { credentials: { ...login } }) }),
    event_id: event.id,
    event_type: event.type,
    resource_id: 'incident',
    tries: 1,
    tries_max: 10,
    body: JSON.stringify({ ...event, ...changed }),
    ticket: null,
  } as unknown as ClaimedDelivery, signal); // prettier-ignore
}

test('sends the events of an incident as one conversation, after STARTTLS and a login', async () => {
  const update = { id: '0197a9c2-5a00-7000-8000-000000000002', type: 'incident.updated', revision: 2 };
  expect(await deliver({ login: mailLogin })).toMatchObject({ state: 'delivered', status: null });
  expect(await deliver({ event: update })).toMatchObject({ state: 'delivered' });
  expect(await deliver({ url: encrypted.url })).toMatchObject({ state: 'delivered' });
  const [first, second] = server.received.map((one) => one.email);
  expect(server.received).toMatchObject([
    { recipients: ['soc@company.example'], user: 'tocsin', isEncrypted: true },
    { recipients: ['soc@company.example'], isEncrypted: true },
  ]);
  expect(first).toMatchObject({
    from: { name: 'Tocsin', address: 'tocsin@company.example' },
    to: [{ address: 'soc@company.example' }],
    subject: String.raw`Incident: Ünusual sign-in\u000aBcc: eve@evil.example`,
    messageId: `<${event.id}@company.example>`,
    date: event.timestamp,
  });
  expect(first!.bcc).toBeUndefined();
  expect(first!.references).toMatch(/^<tocsin-[0-9a-f]{32}@company\.example>$/);
  expect(second).toMatchObject({
    subject: first!.subject,
    messageId: `<${update.id}@company.example>`,
    inReplyTo: first!.inReplyTo,
    references: first!.references,
  });
  // The repetition of an event has the same identity.
  expect(encrypted.received[0]!.email).toMatchObject({ messageId: first!.messageId, references: first!.references });
  expect(first!.text).toMatch(
    /^New incident: [^]*\nSeverity: high\n[^]*\nhttps:\/\/soc\.example\/console\/incidents\/1\n/,
  );
  expect(first!.html).toContain('<a href="https://soc.example/console/incidents/1">Open in Tocsin</a>');
  expect(first!.html).toContain('https[:]//evil.example/&lt;b&gt;');
  // Mail programs turn addresses into links, of which an attacker may have written these.
  expect(first!.text).not.toMatch(/:\/\/evil|www\.evil/);
  expect(first!.html).not.toMatch(/:\/\/evil|www\.evil/);
});

const [soc, gone, full] = ['soc', 'gone', 'full'].map((name) => `${name}@company.example`) as [string, string, string];

test.each([
  ['a wrong password', { login: { ...mailLogin, password: 'wrong' } }, 'pending', '535'],
  ['a server without a login', { login: mailLogin, url: withoutLogin.url }, 'pending', 'Invalid login'],
  ['an unknown recipient', { settings: { to: [gone] } }, 'failed', '550'],
  ['a full mailbox', { settings: { to: [full] } }, 'pending', '452'],
  ['an unknown recipient and a full mailbox', { settings: { to: [full, gone] } }, 'pending', '452'],
  ['a server without STARTTLS', { url: withoutTls.url }, 'pending', 'STARTTLS'],
  ['a certificate that is not trusted', { settings: { caCertificate: undefined } }, 'pending', 'self-signed'],
  ['TLS to a server with STARTTLS', { url: server.url.replace('smtp', 'smtps') }, 'pending', 'cannot be reached'],
  [
    'a password without encryption',
    { url: withoutTls.url, login: mailLogin, settings: { encryption: 'none' } },
    'pending',
    'password',
  ],
  [
    'a public server without encryption',
    { url: 'smtp://1.1.1.1:25', settings: { encryption: 'none' } },
    'pending',
    'TOCSIN_FETCH_ALLOW',
  ],
  ['a private server', { url: 'smtp://127.0.0.2:25' }, 'pending', 'not a public address'],
])('sends nothing with %s', async (_case, options: Options, state, reason) => {
  expect(await deliver(options)).toMatchObject({ state, counted: true, error: expect.stringContaining(reason) });
  expect(servers.flatMap(({ received }) => received)).toEqual([]);
});

test('sends once what some of the recipients receive, and without encryption where that is chosen', async () => {
  const result = await deliver({ settings: { to: [soc, full, gone] } });
  expect(result).toMatchObject({
    state: 'failed',
    error: expect.stringContaining(`1 of 3 recipients, not to ${full}`),
  });
  expect(server.received.map(({ recipients }) => recipients)).toEqual([[soc]]);
  expect(await deliver({ url: withoutTls.url, settings: { encryption: 'none' } })).toMatchObject({
    state: 'delivered',
  });
  expect(withoutTls.received).toMatchObject([{ isEncrypted: false }]);
});

test('does not wait for a server that says nothing', async () => {
  const silent = createServer();
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const address = `smtp://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const stop = new AbortController();
  const attempt = deliver({ url: address, signal: stop.signal });
  const [connection] = await once(silent, 'connection');
  stop.abort();
  expect(await attempt).toMatchObject({ state: 'pending', counted: false, error: 'stopped' });
  if (!connection.destroyed) await once(connection.resume(), 'close');

  const message = { from: soc, to: [soc], subject: '', text: '', html: '', date: new Date(), messageId: '<1>', thread: '<2>' }; // prettier-ignore
  const limits = { allow: ['127.0.0.1'], signal: new AbortController().signal, timeoutMs: 50 };
  await expect(sendMail({ address, isEncrypted: true }, message, limits)).rejects.toThrow('cannot be reached');
  await new Promise((closed) => void silent.close(closed));
});

test.each([
  { from: 'tocsin@company.example\r\nBcc: eve@evil.example' },
  { from: 'Tocsin <tocsin@company.example>' },
  { to: [] },
  { to: Array.from({ length: 21 }, (_one, n) => `soc${n}@company.example`) },
  { to: [`${soc}, eve@evil.example`] },
])('rejects the settings %j', (changed) => {
  expect(email.settings.safeParse(server.settings).success).toBe(true);
  expect(email.settings.safeParse({ ...server.settings, ...changed }).success).toBe(false);
  expect(email.credentials.safeParse({ user: 'tocsin' }).success).toBe(false);
});
