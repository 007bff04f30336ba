import { type Address, isSocket } from '../address.ts';
import type { Cluster } from '../cluster.ts';

/** Extra `-c` settings of a server, name to value. */
export type Settings = Record<string, string>;

/** What our server is started with; it stands on the command line and so wins over every file in the database folder. */
export function serverArguments(cluster: Cluster, at: Address, extra: Settings): string[] {
  const settings: Settings = {
    cluster_name: cluster.name,
    listen_addresses: isSocket(at) ? '' : at.host,
    port: String(at.port),
    // It is read as a list.
    unix_socket_directories: isSocket(at) ? `"${at.host.replaceAll('"', '""')}"` : '',
    shared_buffers: '128MB',
    max_connections: '100',
    wal_compression: 'on',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Errors of statements reach the caller; in the file they would pile up, and with them the data that they quote.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_checkpoints: 'off',
    ...extra,
  };
  return ['-D', cluster.location, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}
