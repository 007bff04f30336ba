import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openDb, type Db } from '../src/platform/db/db.ts';
import { createOrganizationWithKey } from '../test/support/api-client.ts';
import { startCluster, type Cluster } from '../test/support/cluster/cluster.ts';
import { s3Credentials, serveS3, type ServedS3 } from '../test/support/detection/serve-s3.ts';
import { verdictOn } from '../test/support/models/verdict-on.ts';
import { serveModelStandIn, type ModelReply } from '../test/support/models/model-server.ts';
import { runStatements } from '../test/support/run-statements.ts';
import { mountSmallDisk, unmountSmallDisk } from '../test/support/small-disk.ts';
import { startDatabasePair, type DatabasePair } from './database-pair.ts';
import { startFaultProxy, type FaultProxy } from './fault-proxy.ts';
import { createVersions, type Versions } from './versions.ts';
import { startOfTime, type Organization } from './workload.ts';
import type { FaultOptions } from './options.ts';

/** The parts that fail. Process `n` has the proxy `n` before its database. */
export type World = {
  cluster: Cluster;
  proxies: readonly FaultProxy[];
  pair: DatabasePair;
  s3: ServedS3;
  /** The fault with which the model responds. Null: it answers. */
  model: { fault: ModelReply | null };
  /** Small disks by their use. Empty without the right to mount. */
  disks: { machines: readonly string[]; databases: boolean };
  versions: Versions;
  /** Moves the clock of the database by so many milliseconds. */
  setDatabaseClock: (offsetMs: number) => Promise<void>;
  db: Db;
  organizations: Organization[];
  stop: () => Promise<(number | null)[]>;
};

const machineDiskSize = '96m';
const databaseDiskSize = '500m';
const diskReserveBytes = 8 * 2 ** 20;
/** Leases and back-off run out this many times faster than a minute would, so that a killed process is replaced soon. */
const databaseSpeed = 6;
const askMaxMs = 180_000;

type Cleanup = () => unknown;

/** Starts everything below `dir`, which it removes at the end, also if a part does not start. */
export async function startWorld(dir: string, options: FaultOptions): Promise<World> {
  const cleanups: Cleanup[] = [() => rmSync(dir, { recursive: true, force: true })];
  try {
    return await startParts(dir, options, cleanups);
  } catch (error) {
    await cleanUp(cleanups);
    throw error;
  }
}

async function cleanUp(cleanups: Cleanup[]): Promise<void> {
  for (const cleanup of cleanups.toReversed()) await cleanup();
}

async function startParts(
  dir: string,
  { organizations, processes }: FaultOptions,
  cleanups: Cleanup[],
): Promise<World> {
  // The user of the database server must be able to enter it.
  chmodSync(dir, 0o755);
  const mount = (name: string, size: string): { folder: string; isMounted: boolean } => {
    const folder = join(dir, name);
    mkdirSync(folder, { mode: 0o755 });
    const isMounted = mountSmallDisk(folder, size);
    if (isMounted) cleanups.push(() => unmountSmallDisk(folder));
    return { folder, isMounted };
  };
  const machineDisks = ['machine-1', 'machine-2'].map((name) => mount(name, machineDiskSize));
  const databaseDisks = ['database-1', 'database-2'].map((name) => mount(name, databaseDiskSize));
  const pair = await startDatabasePair(databaseDisks.map(({ folder }) => folder) as [string, string]);
  cleanups.push(pair.stop);
  const s3 = await serveS3();
  cleanups.push(s3.close);
  const model: World['model'] = { fault: null };
  const stand = await serveModelStandIn('anthropic', (request) => model.fault ?? verdictOn(request));
  cleanups.push(stand.close);
  const proxies = await Promise.all([...processes, 'checks'].map(() => startFaultProxy(pair.primary)));
  cleanups.push(() => proxies.forEach((proxy) => proxy.close()));
  const urlOf = ({ port }: FaultProxy): string => pair.urlAt({ host: '127.0.0.1', port });
  const setDatabaseClock = (offsetMs: number): Promise<void> => pair.onPrimary((url) => setClock(url, offsetMs));
  await setDatabaseClock(0);
  const db = openDb(urlOf(proxies.at(-1)!), 4);
  cleanups.push(() => db.destroy());
  const orgs = await Promise.all(
    Array.from({ length: organizations }, (_, n) =>
      createOrganizationWithKey({ db, clock: () => startOfTime }, `organization ${n + 1}`),
    ),
  );
  const alias = {
    provider: 'anthropic',
    model: 'stand-in',
    apiKey: 'a-model-key',
    baseUrl: stand.url,
    timeoutSeconds: 3,
  };
  const env = {
    ...s3Credentials,
    TOCSIN_LOGS_URL: s3.url,
    TOCSIN_SPREAD_SECONDS: '0',
    TOCSIN_LOG_LEVEL: 'fatal',
    TOCSIN_RUNS_AT_ONCE: '4',
    TOCSIN_FETCH_ALLOW: '127.0.0.1',
    TOCSIN_DISK_RESERVE_BYTES: String(diskReserveBytes),
    TOCSIN_MODELS: JSON.stringify({ m: alias }),
  };
  const environments = processes.map((tasks, index) => ({
    ...env,
    CLUSTER_TASKS: tasks,
    DATABASE_URL: urlOf(proxies[index]!),
    TOCSIN_DATA_DIR: machineDisks[index % machineDisks.length]!.folder,
  }));
  const cluster = await startCluster(environments, startOfTime, askMaxMs);
  cleanups.push(cluster.stop);
  const versions = createVersions();
  cleanups.push(versions.remove);
  return {
    cluster,
    proxies: proxies.slice(0, -1),
    pair,
    s3,
    model,
    disks: {
      machines: machineDisks.filter(({ isMounted }) => isMounted).map(({ folder }) => folder),
      databases: databaseDisks.every(({ isMounted }) => isMounted),
    },
    versions,
    setDatabaseClock,
    db,
    organizations: orgs.map((org) => ({ ...org, detections: [] })),
    stop: async () => {
      const exits = await cluster.stop();
      await cleanUp(cleanups);
      return exits;
    },
  };
}

const clockStart = new Date().toISOString();

/**
 * Replaces the clocks of the database. The first schema of the path has them, so that statements of the service find these functions before
 * PostgreSQL's own.
 */
async function setClock(url: string, offsetMs: number): Promise<void> {
  const offset = `interval '${offsetMs} ms'`;
  await runStatements(
    url,
    `create or replace function public.clock_timestamp() returns timestamptz language sql volatile as
      $$ select '${clockStart}'::timestamptz + ${databaseSpeed} * (pg_catalog.clock_timestamp() - '${clockStart}'::timestamptz) + ${offset} $$`,
    `create or replace function public.now() returns timestamptz language sql stable as $$ select pg_catalog.now() + ${offset} $$`,
    `alter database "${new URL(url).pathname.slice(1)}" set search_path = public, pg_catalog`,
  );
}
