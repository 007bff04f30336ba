import { userInfo } from 'node:os';
import { expect, test } from 'vitest';
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
