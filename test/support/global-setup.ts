import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../src/platform/db/migrate.ts';
import { runStatements } from './run-statements.ts';
import { readDeclaredRows, type DeclaredRows } from './rows/declared-rows.ts';
import { createTestDir, getTestDir } from './test-dir.ts';

declare module 'vitest' {
  interface ProvidedContext {
    databaseUrl: string;
    /** The same server as its superuser. Null for a server of `TOCSIN_TEST_DATABASE_URL`. */
    superuserUrl: string | null;
    declaredRows: DeclaredRows;
  }
}

/** Starts one PostgreSQL for the whole run, with a migrated template that each test file clones. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const removeTestDir = createTestDir();
  const given = process.env['TOCSIN_TEST_DATABASE_URL'];
  const server = given ? { url: given, superuserUrl: null, stop: async () => undefined } : await ownServer();
  const url = new URL(server.url);
  url.pathname = `/template_${process.pid}`;
  await runStatements(server.url, `create database "template_${process.pid}"`);
  await migrate(url.href);
  project.provide('databaseUrl', url.href);
  project.provide('declaredRows', readDeclaredRows());
  project.provide('superuserUrl', server.superuserUrl);
  return async () => {
    await runStatements(server.url, `drop database if exists "template_${process.pid}" with (force)`);
    await server.stop();
    removeTestDir();
  };
}

async function ownServer(): Promise<{ url: string; superuserUrl: string; stop: () => Promise<void> }> {
  const { startEmbeddedPostgres } = await import('../../src/platform/embedded-postgres/embedded-postgres.ts');
  const dataDir = join(getTestDir(), 'server');
  mkdirSync(dataDir, { recursive: true });
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' };
  const server = await startEmbeddedPostgres({ dataDir, exclusive: false, log: () => undefined, settings });
  return { url: await createOwner(server.url), superuserUrl: server.url, stop: server.stop };
}

/** Creates the role that owns the databases of the tests, which like that of a managed server is no superuser. Returns the URL with it. */
async function createOwner(serverUrl: string): Promise<string> {
  const url = new URL(serverUrl);
  [url.username, url.password] = ['tests', randomBytes(12).toString('hex')];
  await runStatements(
    serverUrl,
    `create role tests login createdb createrole password '${url.password}'; grant pg_signal_backend to tests`,
  );
  return url.href;
}
