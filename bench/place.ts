import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildDeps } from '../src/app/build-deps.ts';
import { loadConfig } from '../src/config.ts';
import { openDb, type Db } from '../src/platform/db/db.ts';
import { startEmbedded } from '../src/platform/embedded-postgres/embedded-postgres.ts';
import { migrate } from '../src/platform/db/migrate.ts';
import type { Deps } from '../src/app/deps.ts';
import { createLogger } from '../src/platform/lib/logger.ts';
import type { OrgId } from '../src/platform/lib/org-id.ts';
import { scopes } from '../src/platform/orgs/caller.ts';
import { createKey } from '../src/platform/orgs/keys.ts';
import { createOrganization } from '../src/app/bootstrap.ts';
import { root, runProgram, startProgram, type Program } from '../test/support/program.ts';

/** A directory of the bench's own, on the disk where the checkout lies, removed afterwards with the server that may use it. */
export async function withDir<T>(work: (dir: string) => Promise<T>): Promise<T> {
  const parent = join(root, 'node_modules/.cache/tocsin-bench');
  mkdirSync(parent, { recursive: true });
  const dir = mkdtempSync(join(parent, 'data-'));
  try {
    return await work(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

export const apiKey = 'a-key-for-the-bench-alone';

export type Running = {
  program: Program;
  url: string;
  databaseUrl: string;
  call: (method: string, path: string, body?: unknown) => Promise<unknown>;
};

/** The whole program as a process on an embedded database, as `npm start` has it. */
export async function withProgram<T>(env: Record<string, string>, work: (running: Running) => Promise<T>): Promise<T> {
  return withDir(async (dir) => {
    const program = await startProgram(dir, { TOCSIN_API_KEY: apiKey, ...env });
    const server = await startEmbedded({ dataDir: dir, exclusive: false, log: () => undefined });
    try {
      return await work({ program, url: program.url, databaseUrl: server.url, call: callWith(program.url, apiKey) });
    } finally {
      await server.stop();
      await program.kill('SIGTERM');
      await runProgram(['org', 'list'], dir);
    }
  });
}

/** Calls the program with a key; anything but 200 is an error. */
export const callWith =
  (url: string, key: string): Running['call'] =>
  async (method, path, body) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const answer = await fetch(`${url}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const read: unknown = await answer.json();
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(read)}`);
    return read;
  };

export type Inside = { deps: Deps; db: Db; url: string; orgId: OrgId; key: string };

/** The program's parts in this process, on an embedded database. */
export async function withDeps<T>(work: (inside: Inside) => Promise<T>, clock?: () => Date): Promise<T> {
  return withDir(async (dir) => {
    const server = await startEmbedded({ dataDir: dir, exclusive: false, log: () => undefined });
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
