import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildDeps } from '../src/app/build-deps.ts';
import { loadConfig } from '../src/config.ts';
import { openDb, type Db } from '../src/platform/db/db.ts';
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres/embedded-postgres.ts';
import { migrate } from '../src/platform/db/migrate.ts';
import type { Deps } from '../src/app/deps.ts';
import { createLogger } from '../src/platform/lib/logger.ts';
import type { OrgId } from '../src/platform/lib/org-id.ts';
import { scopes } from '../src/platform/orgs/caller.ts';
import { createKey } from '../src/platform/orgs/keys.ts';
import { createOrganization } from '../src/app/bootstrap.ts';
import { root, runProgram, startProgram, type Program } from '../test/support/program.ts';

/** Runs `work` with an empty directory on the disk of the checkout. Deletes the directory afterwards. */
export async function withDataDir<T>(work: (dir: string) => Promise<T>): Promise<T> {
  const parent = join(root, 'node_modules/.cache/tocsin-bench');
  mkdirSync(parent, { recursive: true });
  const dir = mkdtempSync(join(parent, 'data-'));
  try {
    return await work(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

export const apiKey = 'a-key-used-by-benchmarks-only';

export type RunningProgram = {
  program: Program;
  url: string;
  databaseUrl: string;
  call: (method: string, path: string, body?: unknown) => Promise<unknown>;
};

/** Runs `work` against the whole program in its own process on an embedded database, as `npm start` runs it. */
export async function withRunningProgram<T>(
  env: Record<string, string>,
  work: (running: RunningProgram) => Promise<T>,
): Promise<T> {
  return withDataDir(async (dir) => {
    const program = await startProgram(dir, { TOCSIN_API_KEY: apiKey, ...env });
    const server = await startEmbeddedPostgres({ dataDir: dir, exclusive: false, log: () => undefined });
    try {
      return await work({
        program,
        url: program.url,
        databaseUrl: server.url,
        call: createCaller(program.url, apiKey),
      });
    } finally {
      await server.stop();
      await program.kill('SIGTERM');
      await runProgram(['org', 'list'], dir);
    }
  });
}

/** Returns a function that calls the program with a key. The function throws for any status other than 200. */
export const createCaller =
  (url: string, key: string): RunningProgram['call'] =>
  async (method, path, body) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const response = await fetch(`${url}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const result: unknown = await response.json();
    if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(result)}`);
    return result;
  };

export type InProcessProgram = { deps: Deps; db: Db; url: string; orgId: OrgId; key: string };

/** Runs `work` with the program's dependencies in this process, on an embedded database. */
export async function withInProcessProgram<T>(
  work: (program: InProcessProgram) => Promise<T>,
  clock?: () => Date,
): Promise<T> {
  return withDataDir(async (dir) => {
    const server = await startEmbeddedPostgres({ dataDir: dir, exclusive: false, log: () => undefined });
    await migrate(server.url);
    const db = openDb(server.url);
    const config = loadConfig({ TOCSIN_DATA_DIR: dir, TOCSIN_LOG_LEVEL: 'error' });
    const { deps, stop } = buildDeps({ config, db, log: createLogger('error'), ...(clock ? { clock } : {}) });
    try {
      const { id } = await createOrganization(deps, 'bench');
      const { key } = await createKey(
        deps,
        { orgId: id, keyId: null, scopes: new Set(scopes) },
        { name: 'bench', scopes: [...scopes] },
      );
      return await work({ deps, db, url: server.url, orgId: id, key: key! });
    } finally {
      await stop();
      await db.destroy();
      await server.stop();
    }
  });
}
