import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { type EmbeddedOptions, startEmbedded } from './embedded-postgres.ts';
import {
  endAll,
  killHard,
  mustHold,
  newDataDir,
  noteHome,
  query,
  removeDataDirs,
  serversOf,
} from '../../../test/support/platform/postgres-holder.ts';

const quiet = { exclusive: false, log: () => {} };

const dataDir = newDataDir();

afterEach(endAll);
afterAll(removeDataDirs);

test('a new database keeps its rows over a stop, which leaves no process', async () => {
  const lines: string[] = [];
  const options: EmbeddedOptions = { dataDir, exclusive: true, log: (line) => lines.push(line) };
  const first = await startEmbedded(options);
  expect(first.how).toBe('started');
  expect(lines.join('\n')).toContain(first.location);
  expect(lines.join('\n')).not.toContain(new URL(first.url).password);
  await query(first.url, 'create table t (n int)', 'insert into t values (1)');
  await Promise.all([first.stop(), first.stop()]);
  await first.stop();
  expect(serversOf(dataDir)).toEqual([]);

  const second = await startEmbedded(options);
  expect(second).toMatchObject({ how: 'started', location: first.location });
  expect(await query(second.url, 'select n from t')).toEqual([{ n: 1 }]);
  await second.stop();
});

test('its one door is a socket in its own closed folder, it asks for a password, and is durable', async () => {
  const server = await startEmbedded({ dataDir, ...quiet });
  const settings = await query(
    server.url,
    `select name, setting from pg_settings where name in ('listen_addresses', 'fsync', 'full_page_writes', 'synchronous_commit', 'unix_socket_directories') order by 1`,
  );
  expect(Object.fromEntries(settings.map((each) => Object.values(each as object)))).toEqual({
    fsync: 'on',
    full_page_writes: 'on',
    listen_addresses: '',
    synchronous_commit: 'on',
    unix_socket_directories: `"${server.location}"`,
  });
  expect(statSync(server.location).mode & 0o777).toBe(0o700);
  const wrong = new URL(server.url);
  wrong.password = 'wrong';
  await expect(query(wrong.href, 'select 1')).rejects.toThrow(/password authentication failed/);
  await server.stop();
});

test('settings of the caller win', async () => {
  const server = await startEmbedded({
    dataDir,
    ...quiet,
    settings: { fsync: 'off', max_connections: '17' },
  });
  expect(await query(server.url, 'show fsync')).toEqual([{ fsync: 'off' }]);
  expect(await query(server.url, 'show max_connections')).toEqual([{ max_connections: '17' }]);
  await server.stop();
});

test('a setting that PostgreSQL refuses ends the start with its words', async () => {
  const start = startEmbedded({ dataDir, ...quiet, settings: { max_connections: 'many' } });
  await expect(start).rejects.toThrow(/did not start: .*max_connections/);
  expect(serversOf(dataDir)).toEqual([]);
  await (await startEmbedded({ dataDir, ...quiet })).stop();
});

test('any path holds the socket', async () => {
  const odd = join(dataDir, `a "b", 100%41 ø'`);
  const server = await startEmbedded({ dataDir: odd, ...quiet });
  noteHome(server.location);
  expect(await query(server.url, 'show listen_addresses')).toEqual([{ listen_addresses: '' }]);
  expect(await query(new URL(server.url).href, 'show data_directory')).toEqual([{ data_directory: server.location }]);
  await server.stop();
});

test('a path too long for a socket: loopback, which the log says, and the server is joined and started again there', async () => {
  // Where the server's user may come to it: else the database would be elsewhere, by a short path.
  const parent = newDataDir(undefined, tmpdir());
  chmodSync(parent, 0o755);
  const long = join(parent, 'long'.repeat(25));
  mkdirSync(long);
  const lines: string[] = [];
  const server = await startEmbedded({ dataDir: long, exclusive: false, log: (line) => lines.push(line) });
  expect(new URL(server.url).hostname).toBe('127.0.0.1');
  expect(lines.join('\n')).toMatch(/listens on loopback.* too long/);
  const other = await mustHold(long, false);
  expect(other).toMatchObject({ how: 'joined', url: server.url });
  await killHard(serversOf(long)[0]!.pid);
  const third = await mustHold(long, false);
  expect(third.url).toBe(server.url);
  expect(await query(server.url, 'select 1 as n')).toEqual([{ n: 1 }]);
  await Promise.all([server.stop(), other.leave(), third.leave()]);
  expect(serversOf(long)).toEqual([]);
});

test('a database whose rules know no socket is opened', async () => {
  const before = await startEmbedded({ dataDir, ...quiet });
  await before.stop();
  writeFileSync(join(before.location, 'pg_hba.conf'), 'host all all 127.0.0.1/32 scram-sha-256\n');
  const server = await startEmbedded({ dataDir, ...quiet });
  expect(await query(server.url, 'select 1 as n')).toEqual([{ n: 1 }]);
  await server.stop();
});
