import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findFreeLoopbackPort } from '../../platform/embedded-postgres/address.ts';
import { newEmptyDatabase, testDatabase } from '../../../test/support/database.ts';
import { runStatements } from '../../../test/support/run-statements.ts';
import { newProgramDir, removeProgramDir } from '../../../test/support/program.ts';
import { runCommand } from '../../../test/support/run-command.ts';
import { loadConfig } from '../../config.ts';
import type { Check } from './check-database.ts';
import { runChecks } from './doctor-command.ts';

const { url } = await testDatabase();
const role = `doctor_${process.pid}`;
const dataDir = newProgramDir();
afterAll(() => removeProgramDir(dataDir));

async function doctor(env: Record<string, string>): Promise<Record<string, Check>> {
  const checks = await runChecks(() => loadConfig({ TOCSIN_DATA_DIR: dataDir, ...env }));
  return Object.fromEntries(checks.map((check) => [check.name, check]));
}

const secretKey = 'x'.repeat(32);

test('passes on a migrated database, and warns that credentials cannot be stored', async () => {
  expect(await doctor({ DATABASE_URL: url })).toMatchObject({
    configuration: { status: 'warning', detail: expect.stringContaining('TOCSIN_SECRET_KEY') },
    database: { status: 'ok', detail: expect.stringMatching(/^PostgreSQL \d+.*connections in use$/) },
    clock: { status: 'ok' },
    migrations: { status: 'ok' },
    connections: { status: 'ok' },
    models: { status: 'ok' },
  });
});

test('reports what keeps the user from migrating the database', async () => {
  const address = new URL(await newEmptyDatabase());
  await runStatements(url, `create role ${role} login password 'x'`);
  [address.username, address.password] = [role, 'x'];
  expect(await doctor({ DATABASE_URL: address.href })).toMatchObject({
    permissions: { status: 'failed', detail: expect.stringContaining(`grant tocsin_app, tocsin_system to "${role}"`) },
  });
});

test('fails if the database refuses connections, or a log folder or a model does not respond', async () => {
  const { port } = await findFreeLoopbackPort();
  const dead = await doctor({ DATABASE_URL: `postgres://u@127.0.0.1:${port}/x`, TOCSIN_SECRET_KEY: secretKey });
  expect(dead).toMatchObject({
    configuration: { status: 'ok' },
    database: { status: 'failed', detail: expect.stringContaining(`127.0.0.1:${port} refused the connection`) },
  });
  const models = { default: { provider: 'openai-compatible', model: 'm', baseUrl: `http://127.0.0.1:${port}` } };
  const folders = { trail: { location: '/nowhere', format: 'cloudtrail', key: 'k'.repeat(20) } };
  const silent = await doctor({
    DATABASE_URL: url,
    TOCSIN_MODELS: JSON.stringify(models),
    TOCSIN_LOG_FOLDERS: JSON.stringify(folders),
    TOCSIN_OIDC_ISSUER: `http://127.0.0.1:${port}`,
    TOCSIN_OIDC_CLIENT_ID: 'tocsin',
    TOCSIN_OIDC_GROUPS: '{"soc": {"scopes": ["hits:read"]}}',
  });
  expect(silent['log folder']).toMatchObject({ status: 'failed', detail: expect.stringContaining('trail: The key') });
  expect(silent['single sign-on']).toMatchObject({ status: 'failed', detail: expect.stringContaining('127.0.0.1') });
  expect(silent['model']).toMatchObject({ status: 'failed', detail: expect.stringContaining('default') });
});

test('reports invalid settings, and creates no database', async () => {
  expect(await doctor({ PORT: 'eighty' })).toMatchObject({
    configuration: { status: 'failed', detail: expect.stringContaining('PORT') },
  });
  expect(await doctor({})).toMatchObject({
    database: { status: 'ok', detail: expect.stringContaining('first start creates it') },
  });
  expect(existsSync(join(dataDir, 'pg'))).toBe(false);
});

test('tocsin doctor ends with exit code 1 if a check fails', async () => {
  const { code, out } = await runCommand(['doctor'], { TOCSIN_DATA_DIR: dataDir, PORT: 'eighty' });
  expect([code, out]).toEqual([1, expect.stringMatching(/^failed {3}configuration {2}PORT: must be/)]);
});
