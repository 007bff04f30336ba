import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync, chmodSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreeLoopbackPort } from '../../../src/platform/embedded-postgres/address.ts';
import { findServerUser, spawnCredentials } from '../../../src/platform/embedded-postgres/run-program.ts';
import { until } from '../program.ts';

/** Whether the command `pgbouncer` can be run. */
export const hasPgbouncer = spawnSync('pgbouncer', ['--version']).status === 0;

/**
 * Starts PgBouncer in transaction mode in front of a database, with fewer connections to the server than the processes of a test have to it, so that they share them.
 * Returns the database's address behind it.
 */
export async function startPgbouncer(databaseUrl: string): Promise<{ url: string; stop: () => Promise<void> }> {
  const { port } = await findFreeLoopbackPort();
  const server = new URL(databaseUrl);
  const folder = mkdtempSync(join(tmpdir(), 'tocsin-pgbouncer-'));
  chmodSync(folder, 0o755);
  const file = join(folder, 'pgbouncer.ini');
  const quote = (text: string): string => `'${decodeURIComponent(text).replaceAll("'", "''")}'`;
  const target = `host=${quote(server.hostname)} port=${server.port || 5432} user=${quote(server.username)} password=${quote(server.password)}`;
  writeFileSync(
    file,
    `[databases]
* = ${target}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 6
max_client_conn = 200
`,
  );
  const child = spawn('pgbouncer', [file], {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...spawnCredentials(findServerUser()),
  });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await until(
    () => isListening(port),
    () => `PgBouncer does not start:\n${output}`,
    () => child.exitCode !== null,
  );
  return {
    url: `postgres://tocsin@127.0.0.1:${port}${server.pathname}`,
    stop: async () => {
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.end());
  });
}
