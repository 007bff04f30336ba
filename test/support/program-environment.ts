import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { buildDeps } from '../../src/app/build-deps.ts';
import { loadConfig } from '../../src/config.ts';
import { openDb, type Db } from '../../src/platform/db/db.ts';
import { startEmbeddedPostgres } from '../../src/platform/embedded-postgres/embedded-postgres.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import type { Deps } from '../../src/app/deps.ts';
import { createLogger } from '../../src/platform/lib/logging/logger.ts';
import type { OrgId } from '../../src/platform/lib/org-id.ts';
import { createCaller, createOrganizationWithKey, type ApiCall } from './api-client.ts';
import { runProgram, startProgram, type Program } from './program.ts';
import { getTestDir } from './test-dir.ts';

/** Runs `work` with an empty directory, on the disk of the checkout unless a test runs it. Deletes the directory afterwards. */
export async function withDataDir<T>(work: (dir: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(getTestDir(), 'data-'));
  try {
    return await work(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

export const apiKey = 'a-key-used-by-benchmarks-only';

export type RunningProgram = { program: Program; url: string; databaseUrl: string; call: ApiCall };

/** Runs `work` against the whole program in its own process on an embedded database, as `npm start` runs it. */
export async function withRunningProgram<T>(
  env: Record<string, string>,
  work: (running: RunningProgram) => Promise<T>,
): Promise<T> {
  return withDataDir((dir) => withProgramIn(dir, env, work));
}

/** Like `withRunningProgram`, on a data directory that is kept. */
export async function withProgramIn<T>(
  dir: string,
  env: Record<string, string>,
  work: (running: RunningProgram) => Promise<T>,
): Promise<T> {
  const program = await startProgram(dir, { TOCSIN_API_KEY: apiKey, ...env });
  const server = await startEmbeddedPostgres({ dataDir: dir, exclusive: false, log: () => undefined });
  try {
    const { url } = program;
    return await work({ program, url, databaseUrl: server.url, call: createCaller(url, apiKey) });
  } finally {
    await server.stop();
    await program.kill('SIGTERM');
    await runProgram(['org', 'list'], dir);
  }
}

/** Runs `work` with a database connection of its own. */
export async function withClient<T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

export type InProcessProgram = { deps: Deps; db: Db; url: string; orgId: OrgId };

/** Runs `work` with the program's dependencies in this process, on an embedded database. */
export async function withInProcessProgram<T>(
  work: (program: InProcessProgram) => Promise<T>,
  clock?: () => Date,
  env: Record<string, string> = {},
): Promise<T> {
  return withDataDir(async (dir) => {
    const server = await startEmbeddedPostgres({ dataDir: dir, exclusive: false, log: () => undefined });
    await migrate(server.url);
    const db = openDb(server.url);
    const config = loadConfig({ TOCSIN_DATA_DIR: dir, TOCSIN_LOG_LEVEL: 'error', ...env });
    const { deps, stop } = buildDeps({ config, db, log: createLogger('error'), ...(clock ? { clock } : {}) });
    try {
      const { id } = await createOrganizationWithKey(deps, 'bench');
      return await work({ deps, db, url: server.url, orgId: id });
    } finally {
      await stop();
      await db.destroy();
      await server.stop();
    }
  });
}
