import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreeLoopbackPort, type ServerAddress } from '../src/platform/embedded-postgres/address.ts';
import { binariesFor, openCluster, type Cluster } from '../src/platform/embedded-postgres/cluster.ts';
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres/embedded-postgres.ts';
import { launchPostmaster } from '../src/platform/embedded-postgres/launch-postmaster.ts';
import { haltPostmaster, isChildOf } from '../src/platform/embedded-postgres/postmaster.ts';
import { isRunning, listProcesses, sendSignal } from '../src/platform/embedded-postgres/processes.ts';
import { migrate } from '../src/platform/db/migrate.ts';
import { copyFiles } from '../test/support/platform/streaming-replica.ts';
import { runStatements } from '../test/support/run-statements.ts';
import { until } from '../test/support/program.ts';

/** A PostgreSQL server. While `isWanted`, it is started again whenever it ends, as a service manager does. */
type Node = { dir: string; cluster: Cluster; address: ServerAddress; pid: number; isWanted: boolean };

/** A primary and its synchronous standby, which change their roles in a failover. */
export type DatabasePair = {
  /** The address of the server that is the primary now. */
  primary: () => ServerAddress;
  /** The URL of the primary through another address, such as that of a proxy. */
  urlAt: (address: ServerAddress) => string;
  /** The data directory of the primary, which a small disk may contain. */
  primaryDir: () => string;
  kill: (role: 'primary' | 'standby') => void;
  /** Kills one backend process of the primary, upon which the server ends all its connections. Returns false if no backend is connected. */
  killBackend: (choose: (count: number) => number) => boolean;
  /** Runs work on the primary's own address, again while the server does not accept connections or loses them. */
  onPrimary: <T>(work: (url: string) => Promise<T>) => Promise<T>;
  /** Returns whether the standby confirms every commit. */
  isSynchronous: () => Promise<boolean>;
  /** Kills the primary for good, promotes the standby, and makes the other server its synchronous standby from a new copy. */
  failOver: () => Promise<void>;
  stop: () => Promise<void>;
};

const settings = {
  hot_standby: 'on',
  wal_receiver_status_interval: '1',
  wal_retrieve_retry_interval: '200ms',
  wal_sender_timeout: '5s',
  max_wal_size: '128MB',
  max_connections: '200',
};

/** Starts a primary with a migrated database and a synchronous standby, each in one of the folders. */
export async function startDatabasePair(folders: readonly [string, string]): Promise<DatabasePair> {
  const [dataDir] = folders;
  const server = await startEmbeddedPostgres({ dataDir, exclusive: false, log: () => undefined });
  const credentials = server.url;
  await migrate(server.url);
  appendFileSync(join(server.location, 'pg_hba.conf'), 'host replication all 127.0.0.1/32 scram-sha-256\n');
  await server.stop();
  const cluster = await openCluster(dataDir, () => undefined);
  const nodes: Node[] = [
    { dir: dataDir, cluster, address: await findFreeLoopbackPort(), pid: 0, isWanted: true },
    { dir: folders[1], cluster, address: await findFreeLoopbackPort(), pid: 0, isWanted: true },
  ];
  let [primary, standby] = nodes as [Node, Node];
  const urlAt = ({ host, port }: ServerAddress): string => {
    const url = new URL(credentials);
    [url.hostname, url.port] = [host, String(port)];
    return url.href;
  };
  const isSynchronous = async (): Promise<boolean> => {
    const query = "select 1 from pg_stat_replication where sync_state in ('sync', 'quorum') and state = 'streaming'";
    return (await runStatements(urlAt(primary.address), query).catch(() => [])).length > 0;
  };
  const addStandby = async (): Promise<void> => {
    const location = join(standby.dir, 'pg');
    const copied = await copyFiles(urlAt(primary.address), primary.cluster.location, {
      location,
      dataDir: standby.dir,
    });
    standby.cluster = { ...copied, name: `tocsin-00000000000000${standby === nodes[0] ? 'a1' : 'b2'}` };
    await launch(standby);
    await runStatements(
      urlAt(primary.address),
      "alter system set synchronous_standby_names = '*'",
      'select pg_reload_conf()',
    );
    await until(isSynchronous, () => 'the standby does not confirm commits');
    standby.isWanted = true;
  };
  try {
    await launch(primary);
    await addStandby();
  } catch (error) {
    await haltAll(nodes);
    throw error;
  }
  const supervision = superviseNodes(nodes);
  return {
    primary: () => primary.address,
    urlAt,
    primaryDir: () => primary.dir,
    kill: (role) => sendSignal((role === 'primary' ? primary : standby).pid, 'SIGKILL'),
    killBackend: (choose) => {
      const isBackend = (command: string): boolean => isChildOf(primary.cluster, command) && /\(\d+\)/.test(command);
      const backends = listProcesses().filter(({ command }) => isBackend(command));
      const victim = backends[choose(backends.length)];
      if (victim) sendSignal(victim.pid, 'SIGKILL');
      return victim !== undefined;
    },
    onPrimary: (work) => repeatWhileDown(() => work(urlAt(primary.address))),
    isSynchronous,
    failOver: async () => {
      standby.isWanted = false;
      primary.isWanted = false;
      sendSignal(primary.pid, 'SIGKILL');
      for (const { pid, command } of listProcesses())
        if (isChildOf(primary.cluster, command)) sendSignal(pid, 'SIGKILL');
      await runStatements(urlAt(standby.address), 'select pg_promote(true, 60)');
      [primary, standby] = [standby, primary];
      primary.isWanted = true;
      // Until the other server has a new copy, there is no standby to wait for.
      await runStatements(
        urlAt(primary.address),
        "alter system set synchronous_standby_names = ''",
        'select pg_reload_conf()',
      );
      await addStandby();
    },
    stop: async () => {
      await supervision.stop();
      await haltAll(nodes);
    },
  };
}

const downMaxMs = 60_000;

async function repeatWhileDown<T>(work: () => Promise<T>): Promise<T> {
  const startMs = performance.now();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() - startMs > downMaxMs) throw error;
      await sleep(supervisionMs);
    }
  }
}

async function haltAll(nodes: readonly Node[]): Promise<void> {
  for (const { pid } of nodes) if (pid > 0 && isRunning(pid)) await haltPostmaster(pid);
}

async function launch(node: Node): Promise<void> {
  const { cluster, address } = node;
  const options = { address, isAddressFixed: true, settings, log: () => undefined };
  ({ pid: node.pid } = await launchPostmaster(cluster, binariesFor(cluster), options));
}

const supervisionMs = 300;

/** Starts servers again that ended. One that cannot start, for example on a full disk, is tried again. */
function superviseNodes(nodes: readonly Node[]): { stop: () => Promise<void> } {
  const stopped = new AbortController();
  const supervise = async (node: Node): Promise<void> => {
    while (!stopped.signal.aborted) {
      if (node.isWanted && !isRunning(node.pid)) await launch(node).catch(() => undefined);
      await sleep(supervisionMs);
    }
  };
  const running = Promise.all(nodes.map(supervise));
  return {
    stop: async () => {
      stopped.abort();
      await running;
    },
  };
}
