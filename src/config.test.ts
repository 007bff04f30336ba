import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readDatabaseUrl } from './platform/db/server-address.ts';
import { loadConfig } from './config.ts';

test.each([
  [{}, 'http://127.0.0.1:8080'],
  [{ HOST: 'localhost', PORT: '9000' }, 'http://localhost:9000'],
  [{ HOST: '::1' }, 'http://[::1]:8080'],
  [{ HOST: '0.0.0.0' }, null],
  [{ PORT: '0' }, null],
  [{ HOST: '0.0.0.0', TOCSIN_PUBLIC_URL: 'https://soc.example/tocsin/' }, 'https://soc.example/tocsin'],
])('the public address of %j is %s', (env, publicUrl) => {
  expect(loadConfig(env).publicUrl).toBe(publicUrl);
});

test.each(['soc.example', 'ftp://soc.example', 'https://soc.example/?a=1'])('rejects %s as public address', (url) => {
  expect(() => loadConfig({ TOCSIN_PUBLIC_URL: url })).toThrow('TOCSIN_PUBLIC_URL');
});

test.each([
  [{ TOCSIN_PROT: '9000' }, 'TOCSIN_PROT: no setting has this name. Did you mean PORT?'],
  [{ TOCSIN_KEEP_LOGS_DAY: '7' }, 'Did you mean TOCSIN_KEEP_LOGS_DAYS?'],
  [
    { TOCSIN_DATABASE_URL: 'postgres://x', TOCSIN_XYZZY: '1' },
    /Did you mean DATABASE_URL\?; TOCSIN_XYZZY: .* Remove it/,
  ],
])('refuses the unknown settings of %j', (env, message) => {
  expect(() => loadConfig(env)).toThrow(message);
});

test('accepts variables of Kubernetes, of the tests and of model keys', () => {
  const models = { default: { provider: 'openai', model: 'm', apiKeyEnv: 'TOCSIN_OPENAI_KEY' } };
  expect(() =>
    loadConfig({
      TOCSIN_PORT: 'tcp://10.0.0.1:80',
      TOCSIN_PORT_80_TCP_ADDR: '10.0.0.1',
      TOCSIN_SERVICE_HOST: '10.0.0.1',
      TOCSIN_SERVE_SERVICE_PORT_HTTP: '80',
      TOCSIN_TEST_DATA: 'data',
      TOCSIN_OPENAI_KEY: 'secret',
      TOCSIN_MODELS: JSON.stringify(models),
    }),
  ).not.toThrow();
});

test('accepts the URL of a socket, and adds the user of this process as libpq does', () => {
  const { databaseUrl, databaseReplicaUrl } = loadConfig({
    DATABASE_URL: 'postgresql:///tocsin?host=/var/run/postgresql',
    DATABASE_REPLICA_URL: 'postgresql://reader@/tocsin?host=/var/run/postgresql',
  });
  const user = process.env['PGUSER'] ?? process.env['USER'] ?? userInfo().username;
  expect(readDatabaseUrl(databaseUrl!)).toMatchObject({ host: '/var/run/postgresql', user, database: 'tocsin' });
  expect(readDatabaseUrl(databaseReplicaUrl!)).toMatchObject({ user: 'reader', database: 'tocsin' });
});

test.each(['mysql://tocsin@db/tocsin', 'postgres://tocsin:a/b@db/tocsin', 'postgres://tocsin:a:b'])(
  'rejects %s as a database and names the setting',
  (url) => {
    expect(() => loadConfig({ DATABASE_URL: url })).toThrow(/^DATABASE_URL: (must begin|is not a valid URL)/);
  },
);

test('lists all that is wrong, whichever setting it is in', () => {
  const env = {
    PORT: 'eighty',
    TOCSIN_MODELS: '{"default": {"provider": "openai", "model": "m"}}',
    TOCSIN_SYSLOG: '/nowhere.json',
    TOCSIN_OIDC_CLIENT_ID: 'tocsin',
    TOCSIN_PROT: '1',
    HTTPS_PROXY: 'socks5://proxy.example',
  };
  expect(() => loadConfig(env)).toThrow(
    /PORT: must be.*HTTPS_PROXY: must be.*TOCSIN_MODELS: default: .*TOCSIN_OIDC_ISSUER: required.*TOCSIN_SYSLOG: .*does not exist.*TOCSIN_PROT: no setting/s,
  );
});

describe('files of secrets', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tocsin-secrets-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  test('are read without the line break at their end, for settings and keys of models', () => {
    const { secretKey, databaseUrl, models } = loadConfig({
      TOCSIN_SECRET_KEY_FILE: write('key', `${'k'.repeat(32)}\n`),
      DATABASE_URL_FILE: write('url', 'postgres://u:p@db/tocsin\r\n'),
      TOCSIN_MODELS: '{"default": {"provider": "openai", "model": "m", "apiKeyEnv": "OPENAI_API_KEY"}}',
      OPENAI_API_KEY_FILE: write('openai', 'sk-1\n'),
    });
    expect([secretKey, databaseUrl]).toEqual(['k'.repeat(32), 'postgres://u:p@db/tocsin']);
    expect(models['default']).toMatchObject({ apiKey: 'sk-1' });
  });

  test.each<[Record<string, string>, RegExp]>([
    [{ TOCSIN_API_KEY_FILE: '/nowhere/key' }, /^TOCSIN_API_KEY_FILE: the file \/nowhere\/key does not exist\.$/],
    [{ TOCSIN_API_KEY_FILE: write('empty', '\n') }, /^TOCSIN_API_KEY_FILE: the file .* is empty\.$/],
    [{ TOCSIN_API_KEY_FILE: write('short', 'short') }, /^TOCSIN_API_KEY: must have at least 20 characters$/],
    [{ TOCSIN_API_KEY: 'k'.repeat(20), TOCSIN_API_KEY_FILE: folder }, /^TOCSIN_API_KEY: .*Set only one of them/],
    [{ TOCSIN_APY_KEY_FILE: folder }, /^TOCSIN_APY_KEY_FILE: no setting has this name/],
  ])('that cannot be used are named: %o', (env, message) => {
    expect(() => loadConfig(env)).toThrow(message);
  });
});
