import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { type EmbeddedPostgresOptions, startEmbeddedPostgres } from './embedded-postgres.ts';
import {
  killAllHolders,
  killHard,
  holdOrThrow,
  newDataDir,
  registerHome,
  removeDataDirs,
  findPostmasters,
} from '../../../test/support/platform/postgres-holder.ts';
import { runStatements as query } from '../../../test/support/run-statements.ts';

const quiet = { exclusive: false, log: () => {} };

const dataDir = newDataDir();

afterEach(killAllHolders);
afterAll(removeDataDirs);

test('keeps rows across a stop, which leaves no process', async () => {
  const lines: string[] = [];
  const options: EmbeddedPostgresOptions = { dataDir, exclusive: true, log: (line) => lines.push(line) };
  const first = await startEmbeddedPostgres(options);
  expect(first.origin).toBe('started');
  expect(lines.join('\n')).toContain(first.location);
  expect(lines.join('\n')).not.toContain(new URL(first.url).password);
  await query(first.url, 'create table t (n int)', 'insert into t values (1)');
  await Promise.all([first.stop(), first.stop()]);
  await first.stop();
  expect(findPostmasters(dataDir)).toEqual([]);

  const second = await startEmbeddedPostgres(options);
  expect(second).toMatchObject({ origin: 'started', location: first.location });
  expect(await query(second.url, 'select n from t')).toEqual([{ n: 1 }]);
  await second.stop();
});

test('listens only on a socket in a private folder, requires a password and is durable', async () => {
  const server = await startEmbeddedPostgres({ dataDir, ...quiet });
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

test('settings of the caller override the defaults', async () => {
  const server = await startEmbeddedPostgres({
    dataDir,
    ...quiet,
    settings: { fsync: 'off', max_connections: '17' },
  });
  expect(await query(server.url, 'show fsync')).toEqual([{ fsync: 'off' }]);
  expect(await query(server.url, 'show max_connections')).toEqual([{ max_connections: '17' }]);
  await server.stop();
});

test('reports the message of PostgreSQL for an invalid setting', async () => {
  const start = startEmbeddedPostgres({ dataDir, ...quiet, settings: { max_connections: 'many' } });
  await expect(start).rejects.toThrow(/did not start: .*max_connections/);
  expect(findPostmasters(dataDir)).toEqual([]);
  await (await startEmbeddedPostgres({ dataDir, ...quiet })).stop();
});

test('creates the socket at a path with special characters', async () => {
  const odd = join(dataDir, `a "b", 100%41 ø'`);
  const server = await startEmbeddedPostgres({ dataDir: odd, ...quiet });
  registerHome(server.location);
  expect(await query(server.url, 'show listen_addresses')).toEqual([{ listen_addresses: '' }]);
  expect(await query(new URL(server.url).href, 'show data_directory')).toEqual([{ data_directory: server.location }]);
  await server.stop();
});

test('falls back to loopback for a path too long for a socket, and joins and restarts the server there', async () => {
  // The server's user must be able to enter it. Otherwise the database would be created elsewhere, at a short path.
  const parent = newDataDir(undefined, tmpdir());
  chmodSync(parent, 0o755);
  const long = join(parent, 'long'.repeat(25));
  mkdirSync(long);
  const lines: string[] = [];
  const server = await startEmbeddedPostgres({ dataDir: long, exclusive: false, log: (line) => lines.push(line) });
  expect(new URL(server.url).hostname).toBe('127.0.0.1');
  expect(lines.join('\n')).toMatch(/listens on loopback.* too long/);
  const other = await holdOrThrow(long, false);
  expect(other).toMatchObject({ origin: 'joined', url: server.url });
  await killHard(findPostmasters(long)[0]!.pid);
  const third = await holdOrThrow(long, false);
  expect(third.url).toBe(server.url);
  expect(await query(server.url, 'select 1 as n')).toEqual([{ n: 1 }]);
  await Promise.all([server.stop(), other.leave(), third.leave()]);
  expect(findPostmasters(long)).toEqual([]);
});

test('opens a database whose access rules do not allow the socket', async () => {
  const before = await startEmbeddedPostgres({ dataDir, ...quiet });
  await before.stop();
  writeFileSync(join(before.location, 'pg_hba.conf'), 'host all all 127.0.0.1/32 scram-sha-256\n');
  const server = await startEmbeddedPostgres({ dataDir, ...quiet });
  expect(await query(server.url, 'select 1 as n')).toEqual([{ n: 1 }]);
  await server.stop();
});
