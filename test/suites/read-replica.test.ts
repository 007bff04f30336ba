import { afterAll, beforeEach, expect, inject, test, vi } from 'vitest';
import { sql } from 'kysely';
import { buildApp } from '../../src/app/http-server.ts';
import { buildDeps } from '../../src/app/build-deps.ts';
import { createOrganization } from '../../src/app/bootstrap.ts';
import { openReplica } from '../../src/app/open-database.ts';
import { runChecks } from '../../src/cli/service/doctor-command.ts';
import { loadConfig } from '../../src/config.ts';
import { inOrg, openDb, queryRow, type Db, type Tx } from '../../src/platform/db/db.ts';
import { openReadReplica } from '../../src/platform/db/read-replica.ts';
import { systemClock } from '../../src/platform/lib/time/clock.ts';
import { createLogger } from '../../src/platform/lib/logging/logger.ts';
import { createKey } from '../../src/platform/orgs/keys.ts';
import { operatorOf, scopes } from '../../src/platform/http/caller.ts';
import { createCaller } from '../support/api-client.ts';
import { newDataDir } from '../support/harness.ts';
import { startReplicatedServers } from '../support/platform/streaming-replica.ts';
import { descendantsOf, until } from '../support/program.ts';
import { isOpen, registeredRoutes } from '../support/registered-routes.ts';
import { runStatements } from '../support/run-statements.ts';

/* Two processes' worth of services share a primary. One of them also reads from a streaming replica. */
const dataDir = newDataDir();
const servers = await startReplicatedServers(dataDir);
const stopped = new AbortController();
const log = createLogger('silent');
const config = loadConfig({ TOCSIN_DATA_DIR: dataDir, TOCSIN_LOG_LEVEL: 'silent' });
const primary = openDb(servers.primaryUrl);
const db = await openReplica(
  openDb(servers.primaryUrl),
  { databaseReplicaUrl: servers.replicaUrl },
  { log, signal: stopped.signal },
);
const replica = db.replica!;
const [writer, reader] = [await serve(primary), await serve(db)];
const ids = await Promise.all(
  ['one', 'two'].map(async (name) => (await createOrganization({ db: primary, clock: systemClock }, name)).id),
);
const keys = await Promise.all(
  ids.map(async (orgId) => {
    const caller = operatorOf(orgId);
    return (await createKey({ db: primary }, caller, { name: 'test', scopes: [...scopes] })).key!;
  }),
);
const write = createCaller(writer.url, keys[0]!);
const read = createCaller(reader.url, keys[0]!);

afterAll(async () => {
  stopped.abort();
  await reader.stop();
  await writer.stop();
  await replica.close();
  await db.destroy();
  await primary.destroy();
  await servers.stop();
});

async function serve(
  database: Db,
): Promise<{ url: string; app: Awaited<ReturnType<typeof buildApp>>; stop: () => Promise<void> }> {
  const { deps, stop } = buildDeps({ config, db: database, log });
  const app = await buildApp(deps);
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  return { url, app, stop: async () => (await app.close(), stop()) };
}

const onReplica = (statement: string): Promise<unknown[]> => runStatements(servers.replicaUrl, statement);
const untilUsed = (): Promise<unknown> =>
  until(
    () => replica.fault() === null,
    () => String(replica.fault()),
  );
const isReplica = sql<{
  replica: boolean;
}>`select pg_is_in_recovery() as replica, (select count(*) from entity_notes) as notes`;
/** Returns whether the replica serves a read now. Reads skip one that was behind for a moment. */
async function isUsed(): Promise<boolean> {
  const served = replica.counts.replica;
  await replica.allowReads(() => inOrg(db, ids[0]!, (tx) => queryRow(tx, isReplica)));
  return replica.counts.replica > served;
}
/**
 * Runs a read until the replica has refused it once, and returns where its attempts ran. It may take several reads, because one that the replica
 * is too far behind for never reaches it.
 */
async function refuseOnReplica(work: (tx: Tx, isReplica: boolean) => Promise<unknown>): Promise<boolean[]> {
  const { refused } = replica.counts;
  let attempts: boolean[] = [];
  await vi.waitUntil(
    async () => {
      attempts = [];
      await replica.allowReads(() =>
        inOrg(db, ids[0]!, async (tx) => {
          const isHere = (await queryRow(tx, isReplica))!.replica;
          attempts.push(isHere);
          await work(tx, isHere);
        }),
      );
      return replica.counts.refused > refused;
    },
    { timeout: 60_000 },
  );
  expect(replica.counts.refused).toBe(refused + 1);
  return attempts;
}
const createDetection = async (name: string): Promise<void> => {
  const fields = { detectionCategory: 'custom', systemPrompt: 'p', detectionQuery: 'SELECT 1 AS n' };
  await write('POST', '/api/detections', { name, ...fields });
};
const listNames = async (): Promise<string[]> => {
  const { detections } = (await read('GET', '/api/detections?limit=100')) as { detections: { name: string }[] };
  return detections.map(({ name }) => name);
};

beforeEach(untilUsed);

test('no GET route writes, and all of them run on the replica', async () => {
  const paths = registeredRoutes(reader.app)
    .filter((route) => route.method === 'GET' && !/[{*]/.test(route.path) && !isOpen(route))
    .map(({ path }) => path);
  expect(paths.length).toBeGreaterThan(20);
  let served = 0;
  for (const path of paths) {
    await expect.poll(isUsed, { timeout: 30_000 }).toBe(true);
    const before = replica.counts.replica;
    const response = await fetch(new URL(path, reader.url), { headers: { authorization: `Bearer ${keys[0]}` } });
    await response.text();
    expect([path, replica.counts.refused, replica.counts.failed]).toEqual([path, 0, 0]);
    if (replica.counts.replica > before) served += 1;
  }
  expect(served).toBeGreaterThan(20);
});

test('a request reads every write that was answered before it, by whichever process', async () => {
  const served = replica.counts.replica;
  for (let n = 0; n < 20; n += 1) {
    await createDetection(`written ${n}`);
    expect(await listNames()).toContain(`written ${n}`);
  }
  expect(replica.counts.replica).toBeGreaterThan(served);
  const other = createCaller(reader.url, keys[1]!);
  expect(await other('GET', '/api/detections')).toMatchObject({ detections: [] });
});

test('an ETag and a page of items are never those of before a write', async () => {
  const post = (title: string): Promise<unknown> =>
    write('POST', '/api/feed/items', { title, text: `${title} of a campaign` });
  const get = (headers = {}): Promise<Response> =>
    fetch(`${reader.url}/items`, { headers: { authorization: `Bearer ${keys[0]}`, ...headers } });
  await post('first report');
  const first = await get();
  const etag = first.headers.get('etag')!;
  expect(await first.text()).toContain('first report');
  expect((await get({ 'if-none-match': etag })).status).toBe(304);
  await post('second report');
  // Each process reads the feed's version anew after 100 ms.
  await expect.poll(async () => (await get({ 'if-none-match': etag })).text()).toContain('second report');
});

test('reads use the primary while the replica lags, and /readyz says so', async () => {
  await onReplica('select pg_wal_replay_pause()');
  try {
    await createDetection('while paused');
    expect(await listNames()).toContain('while paused');
    await until(
      () => replica.fault()?.includes('more than a second behind'),
      () => String(replica.fault()),
    );
    const ready = (await (await fetch(`${reader.url}/readyz`)).json()) as unknown;
    expect(ready).toEqual({ status: 'degraded', reasons: [replica.fault()] });
    const metrics = await (await fetch(`${reader.url}/metrics`)).text();
    expect(metrics).toMatch(/^tocsin_replica_up 0$/m);
    expect(metrics).toMatch(/^tocsin_replica_reads_total\{result="behind"\} [1-9]/m);
  } finally {
    await onReplica('select pg_wal_replay_resume()');
  }
  await untilUsed();
  expect(await (await fetch(`${reader.url}/readyz`)).json()).toEqual({ status: 'ok' });
});

test('a transaction that the replica cancels for recovery, or that writes, runs on the primary', async () => {
  const cancelled = await refuseOnReplica(async (tx, isHere) => {
    if (!isHere) return;
    // Replay of this lock waits for the transaction, and then cancels it.
    await runStatements(servers.primaryUrl, 'begin; lock table entity_notes in access exclusive mode; commit');
    await sql`select pg_sleep(30)`.execute(tx);
  });
  expect(cancelled).toEqual([true, false]);
  const written = await refuseOnReplica((tx) => sql`select from entity_notes for update`.execute(tx));
  expect(written).toEqual([true, false]);
});

test('reads survive a replica that hangs, dies and returns', async () => {
  const hung = descendantsOf(servers.replicaPid()).map(({ pid }) => pid);
  for (const pid of hung) process.kill(pid, 'SIGSTOP');
  try {
    expect(await listNames()).toContain('while paused');
    await until(
      () => replica.fault() !== null,
      () => 'the replica is used although it hangs',
    );
    // A read does not wait for the replica: it is not asked.
    const before = { ...replica.counts };
    await listNames();
    expect(replica.counts).toEqual({ ...before, skipped: expect.any(Number) });
    expect(replica.counts.skipped).toBeGreaterThan(before.skipped);
  } finally {
    for (const pid of hung) process.kill(pid, 'SIGCONT');
  }
  await untilUsed();
  process.kill(servers.replicaPid(), 'SIGKILL');
  for (let n = 0; n < 20; n += 1) expect(await listNames()).toContain('while paused');
  await until(
    () => replica.fault()?.includes('cannot be used'),
    () => String(replica.fault()),
  );
  const checks = await runChecks(() =>
    loadConfig({
      DATABASE_URL: servers.primaryUrl,
      DATABASE_REPLICA_URL: servers.replicaUrl,
      TOCSIN_DATA_DIR: dataDir,
    }),
  );
  expect(checks).toContainEqual(expect.objectContaining({ name: 'replica', status: 'failed' }));
  await servers.startReplica();
  await untilUsed();
});

test('a server that is no replica of the database is not used', async () => {
  for (const url of [inject('databaseUrl'), servers.primaryUrl]) {
    const wrong = openReadReplica(primary, url);
    await wrong.check();
    expect(wrong.fault()).toContain('is not a streaming replica of the database');
    await wrong.close();
  }
});
