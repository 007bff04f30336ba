import { writeFileSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, expect, test } from 'vitest';
import { certificate, privateKey } from '../../../test/support/detection/siem/tls-certificate.ts';
import { newDataDir, startApp, type TestOrg } from '../../../test/support/harness.ts';
import { AppError } from '../../platform/lib/errors.ts';
import { startSyslogListener, type SyslogListener } from './syslog-listener.ts';
import { readSyslogSettings } from './shipper-settings.ts';

const now = new Date('2026-03-01T10:00:00.000Z');
const { deps, newOrg } = await startApp({ clock: () => now });
const listeners: SyslogListener[] = [];
afterAll(() => Promise.all(listeners.map((listener) => listener.stop())));

const folder = newDataDir();
const [certificatePath, keyPath] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
writeFileSync(certificatePath, certificate);
writeFileSync(keyPath, privateKey);

async function listen(org: TestOrg, more: object = {}, overrides: object = {}): Promise<SyslogListener> {
  const settings = readSyslogSettings(JSON.stringify({ test: { port: 0, key: org.key, ...more } }));
  const listener = await startSyslogListener({ ...deps, ...overrides }, 'test', settings['test']!);
  listeners.push(listener);
  return listener;
}
const connect = async ({ port }: SyslogListener): Promise<Socket> => {
  const socket = createConnection({ port, host: '127.0.0.1' });
  await new Promise((done) => socket.once('connect', done));
  return socket;
};
async function select(org: TestOrg, query: string): Promise<unknown[]> {
  const body = { query, from: '2026-01-01T00:00:00Z', to: '2027-01-01T00:00:00Z' };
  const answer = await org.call('POST', '/api/logs/search', body);
  return answer.status === 200 ? answer.body.rows : [answer.body.detail];
}

test('stores messages of all forms with their fields and the sender', async () => {
  const org = await newOrg();
  const socket = await connect(await listen(org));
  const counted = '<165>1 2026-03-01T09:00:00Z fw1 ipf 7 M1 [a@1 x="1"] two\nlines';
  socket.write(`<38>Mar  1 09:30:00 web1 sshd[42]: Accepted for ana\n${Buffer.byteLength(counted)} ${counted}`);
  socket.end('<13>Mar  1 09:31:00 app1 shop: @cee: {"user":"bo","eventTime":"2026-02-28T00:00:00Z"}');
  const query =
    'select _time, host, program, process_id, message, facility, severity, "user", sender, structured_data from syslog order by _time';
  await expect.poll(() => select(org, query)).toHaveLength(3);
  const base = { process_id: null, message: null, user: null, sender: '127.0.0.1', structured_data: null };
  const rows = (await select(org, query)) as object[];
  expect(rows).toMatchObject([
    { ...base, _time: '2026-02-28T00:00:00.000Z', host: 'app1', program: 'shop', user: 'bo' },
    { _time: '2026-03-01T09:00:00.000Z', host: 'fw1', process_id: '7', message: 'two\nlines', facility: 'local4' },
    {
      ...base,
      _time: '2026-03-01T09:30:00.000Z',
      host: 'web1',
      program: 'sshd',
      process_id: '42',
      message: 'Accepted for ana',
    },
  ]);
});

test('stores equal messages as often as they arrive, in the dataset of the listener', async () => {
  const org = await newOrg();
  const listener = await listen(org, { dataset: 'firewall' });
  for (const count of [1, 2, 3]) {
    (await connect(listener)).end('<38>Mar  1 09:30:00 fw1 deny tcp\n');
    await expect.poll(() => select(org, 'select count(*) as n from firewall')).toEqual([{ n: count }]);
  }
});

test('keeps messages while they cannot be stored, and stops reading', async () => {
  const org = await newOrg();
  let isDown = true;
  const reader = deps.bodyReader;
  const bodyReader: typeof reader = {
    ...reader,
    read: (...args) => {
      if (isDown) throw new AppError('unavailable', 'down');
      return (reader.read as (...all: unknown[]) => never)(...args);
    },
  };
  const socket = await connect(await listen(org, {}, { bodyReader }));
  // More than waits in the service and in the buffers of a connection.
  const message = Buffer.from(`<38>Mar  1 09:30:00 web1 app: ${'x'.repeat(1_000)}\n`);
  const count = 40_000;
  let isDrained = false;
  socket.once('drain', () => (isDrained = true));
  socket.write(Buffer.concat(Array.from({ length: count }, () => message)));
  await new Promise((done) => setTimeout(done, 500));
  expect(isDrained).toBe(false);
  isDown = false;
  socket.end();
  await expect.poll(() => select(org, 'select count(*) as n from syslog'), { timeout: 60_000 }).toEqual([{ n: count }]);
});

test('stores what has arrived when it stops', async () => {
  const org = await newOrg();
  const listener = await listen(org);
  const socket = await connect(listener);
  socket.on('error', () => undefined);
  await new Promise((done) => socket.write('<38>Mar  1 09:30:00 web1 app: last\n', done));
  await listener.stop();
  expect(await select(org, 'select message from syslog')).toEqual([{ message: 'last' }]);
});

test('stops although a client resets its connection', async () => {
  const org = await newOrg();
  const listener = await listen(org);
  const socket = await connect(listener);
  await new Promise((done) => socket.write('<38>Mar  1 09:30:00 web1 app: last\n', done));
  // The end of the connection arrives once the listener stops.
  socket.once('end', () => socket.resetAndDestroy());
  await listener.stop();
  expect(await select(org, 'select message from syslog')).toEqual([{ message: 'last' }]);
});

test('accepts TLS, and with an authority only clients with its certificate', async () => {
  const org = await newOrg();
  const tls = { certificate: certificatePath, privateKey: keyPath, clientAuthorities: certificatePath };
  const { port } = await listen(org, { tls });
  const options = { port, host: '127.0.0.1', ca: certificate };
  const stranger = connectTls(options);
  stranger.on('error', () => undefined);
  stranger.write('<38>Mar  1 09:30:00 web1 app: stranger\n');
  await new Promise((done) => stranger.once('close', done));
  const known = connectTls({ ...options, cert: certificate, key: privateKey });
  known.end('<38>Mar  1 09:30:00 web1 app: known\n');
  await expect.poll(() => select(org, 'select message from syslog')).toEqual([{ message: 'known' }]);
});

test('closes a connection whose messages cannot be separated', async () => {
  const socket = await connect(await listen(await newOrg()));
  socket.on('error', () => undefined);
  socket.write('12x <38>nonsense');
  await new Promise((done) => socket.once('close', done));
});

test.each([
  [{ port: 70_000, key: 'k'.repeat(20) }, /a\.port/],
  [{ port: 1, key: 'short' }, /a\.key: must be an API key/],
  [{ port: 1, key: 'k'.repeat(20), dataset: 'No!' }, /a\.dataset: must be a valid dataset name/],
  [{ port: 1, key: 'k'.repeat(20), tls: {} }, /a\.tls\.certificate/],
])('rejects the settings %j', (settings, message) => {
  expect(() => readSyslogSettings(JSON.stringify({ a: settings }))).toThrow(message);
});

test('reports a certificate that cannot be read', async () => {
  const tls = { certificate: '/nowhere.pem', privateKey: keyPath };
  await expect(listen(await newOrg(), { tls })).rejects.toThrow(/tls.certificate: the file \/nowhere.pem/);
});
