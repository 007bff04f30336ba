import { appendFileSync, cpSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { binariesFor, type Cluster } from '../../../src/platform/embedded-postgres/cluster.ts';
import { chownTree } from '../../../src/platform/embedded-postgres/durable-files.ts';
import { socketAddress } from '../../../src/platform/embedded-postgres/address.ts';
import { startEmbeddedPostgres } from '../../../src/platform/embedded-postgres/embedded-postgres.ts';
import { findAccount } from '../../../src/platform/embedded-postgres/run-program.ts';
import { launchPostmaster } from '../../../src/platform/embedded-postgres/launch-postmaster.ts';
import { haltPostmaster } from '../../../src/platform/embedded-postgres/postmaster.ts';
import { migrate } from '../../../src/platform/db/migrate.ts';
import { runStatements } from '../run-statements.ts';

export type ReplicatedServers = {
  primaryUrl: string;
  replicaUrl: string;
  /** Process IDs of the replica's postmaster and its children. */
  replicaPid: () => number;
  startReplica: () => Promise<void>;
  stopReplica: () => Promise<void>;
  stop: () => Promise<void>;
};

/**
 * Starts a PostgreSQL server of its own with a migrated database, and a streaming replica of it. The embedded binaries come without
 * pg_basebackup, so the replica's files are copied between `pg_backup_start` and `pg_backup_stop`.
 */
export async function startReplicatedServers(dataDir: string): Promise<ReplicatedServers> {
  const server = await startEmbeddedPostgres({ dataDir, exclusive: false, log: () => undefined });
  await migrate(server.url);
  appendFileSync(
    join(server.location, 'pg_hba.conf'),
    'local replication all scram-sha-256\nhost replication all 127.0.0.1/32 scram-sha-256\n',
  );
  await runStatements(server.url, 'select pg_reload_conf()');
  const location = join(dirname(server.location), 'pg-replica');
  const cluster = await copyFiles(server.url, server.location, { location, dataDir });
  const replicaUrl = new URL(server.url);
  const address = socketAddress(location);
  replicaUrl.hostname = encodeURIComponent(location);
  replicaUrl.port = String(address.port);
  let pid = 0;
  const startReplica = async (): Promise<void> => {
    ({ pid } = await launchPostmaster(cluster, binariesFor(cluster), {
      address,
      isAddressFixed: true,
      settings: { hot_standby: 'on', wal_receiver_status_interval: '1', max_standby_streaming_delay: '200ms' },
      log: () => undefined,
    }));
  };
  const stopReplica = (): Promise<void> => haltPostmaster(pid);
  await startReplica();
  return {
    primaryUrl: server.url,
    replicaUrl: replicaUrl.href,
    replicaPid: () => pid,
    startReplica,
    stopReplica,
    async stop() {
      await stopReplica();
      await server.stop();
      rmSync(location, { recursive: true, force: true });
    },
  };
}

/** Copies the primary's files by the low-level backup protocol, and configures them as a replica. */
export async function copyFiles(
  url: string,
  source: string,
  { location, dataDir }: { location: string; dataDir: string },
): Promise<Cluster> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  await client.query("select pg_backup_start('replica', true)");
  rmSync(location, { recursive: true, force: true });
  const isCopied = (path: string): boolean => !/\/(postmaster\.(pid|opts)|\.s\.PGSQL.*)$|\/pg_wal\/./.test(path);
  cpSync(source, location, { recursive: true, filter: isCopied });
  const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
  await client.end();
  writeFileSync(join(location, 'backup_label'), rows[0]!.labelfile);
  writeFileSync(join(location, 'standby.signal'), '');
  const { username, password, hostname, port } = new URL(url);
  const text = `host='${decodeURIComponent(hostname)}' port=${port || 5432} user=${username} password='${decodeURIComponent(password)}'`;
  appendFileSync(join(location, 'postgresql.auto.conf'), `primary_conninfo = '${text.replaceAll("'", "''")}'\n`);
  const { uid, gid } = statSync(source);
  const user = process.getuid?.() === 0 ? findAccount(uid, gid) : undefined;
  if (user) chownTree(location, user);
  return { dataDir, location, name: 'tocsin-0123456789abcdef', user };
}
