import { type ServerAddress, isSocket } from '../address.ts';
import type { Cluster } from '../cluster.ts';

/** Extra `-c` settings of a server, name to value. */
export type ServerSettings = Record<string, string>;

/** Returns the server's command line, whose settings override every file in the database folder. */
export function serverArguments(cluster: Cluster, address: ServerAddress, extra: ServerSettings): string[] {
  const settings: ServerSettings = {
    cluster_name: cluster.name,
    listen_addresses: isSocket(address) ? '' : address.host,
    port: String(address.port),
    // PostgreSQL parses this as a list.
    unix_socket_directories: isSocket(address) ? `"${address.host.replaceAll('"', '""')}"` : '',
    shared_buffers: '128MB',
    max_connections: '100',
    wal_compression: 'on',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Statement errors reach the caller. In the log they would accumulate, along with the data that they quote.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_checkpoints: 'off',
    ...extra,
  };
  return ['-D', cluster.location, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}
