import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type ServerAddress, findFreeLoopbackPort, isSocket } from './address.ts';
import type { Binaries } from './binaries.ts';
import type { Cluster } from './cluster.ts';
import { type Postmaster, isChildOf, isForeignPostgres, pidFileOf, readPidFile, waitForReady } from './postmaster.ts';
import { commandOf, isRunning, listProcesses, sendSignal, waitUntil } from './processes.ts';
import { lastLines, serverEnv, spawnCredentials } from './run-program.ts';

/** Extra `-c` settings of a server, name to value. */
export type ServerSettings = Record<string, string>;

/** `address` is tried first. `isAddressFixed` permits no other address, because a pool already uses it. */
type LaunchOptions = {
  address: ServerAddress;
  isAddressFixed: boolean;
  settings: ServerSettings;
  log: (line: string) => void;
};

const attemptsMax = 4;
const logMaxBytes = 1 << 20;
const childrenMaxMs = 5_000;

/**
 * Starts the server and waits until it accepts connections. Falls back to loopback if the socket cannot be created (a path over 107
 * bytes, a file system without sockets), picks another port if one is taken, and retries after a signal from outside. Throws with the end
 * of the server's log if it ends for any other reason.
 */
export async function launchPostmaster(
  cluster: Cluster,
  binaries: Binaries,
  launch: LaunchOptions,
): Promise<Postmaster> {
  let { address } = launch;
  for (let attempt = 1; ; attempt++) {
    await clearStaleProcesses(cluster);
    const result = await tryLaunch(cluster, binaries, { ...launch, address });
    if ('pid' in result) return { ...address, pid: result.pid };
    const isAddressUnusable = /Address already in use|could not create any (TCP\/IP|Unix-domain) sockets/.test(
      result.output,
    );
    if (isAddressUnusable && !launch.isAddressFixed) {
      if (isSocket(address))
        launch.log(`listens on loopback because the socket cannot be created: ${lastLines(result.output)}`);
      address = await findFreeLoopbackPort();
    } else if (!result.signal) throw launchError(cluster, result);
    if (attempt === attemptsMax) throw launchError(cluster, result);
  }
}

type FailedLaunch = { signal: NodeJS.Signals | null; output: string };

function launchError(cluster: Cluster, { signal, output }: FailedLaunch): Error {
  const problem = signal ? `was terminated by ${signal} during startup` : 'did not start';
  return new Error(`PostgreSQL in ${cluster.location} ${problem}: ${lastLines(output)}`);
}

async function tryLaunch(
  cluster: Cluster,
  binaries: Binaries,
  launch: LaunchOptions,
): Promise<{ pid: number } | FailedLaunch> {
  const logFile = `${cluster.location}.log`;
  const logOffset = rotateLog(logFile);
  const args = serverArguments(cluster, launch.address, launch.settings);
  const child = spawnServer(binaries.postgres, args, { cluster, logFile });
  const failure = new Promise<FailedLaunch>((resolve) => {
    child.once('error', (error) => resolve({ signal: null, output: error.message }));
    child.once('exit', (_, signal) => resolve({ signal, output: readLogSince(logFile, logOffset) }));
  });
  if (!child.pid || !(await waitForReady(cluster, child.pid, launch.log))) return failure;
  child.unref();
  return { pid: child.pid };
}

/** Returns the log text after an offset. Empty if the log is gone: a server may outlive its folder. */
function readLogSince(logFile: string, offset: number): string {
  return existsSync(logFile) ? readFileSync(logFile).subarray(offset).toString() : '';
}

/**
 * Starts the server process. Its own process group shields it from the terminal's Ctrl-C until this process has finished. Its log is a
 * file because a pipe would end with this process.
 */
function spawnServer(
  postgres: string,
  args: string[],
  { cluster, logFile }: { cluster: Cluster; logFile: string },
): ChildProcess {
  const fd = openSync(logFile, 'a', 0o600);
  try {
    const options = { ...spawnCredentials(cluster.user), cwd: '/', env: serverEnv, detached: true } as const;
    return spawn(postgres, args, { ...options, stdio: ['ignore', fd, fd] });
  } finally {
    closeSync(fd);
  }
}

/** Renames a log of over 1 MiB to `.1`. Returns the size of the current log. */
function rotateLog(logFile: string): number {
  if (!existsSync(logFile)) return 0;
  const { size } = statSync(logFile);
  if (size <= logMaxBytes) return size;
  renameSync(logFile, `${logFile}.1`);
  return 0;
}

/**
 * Cleans up after a server that died without a shutdown. Children busy in a query keep running and hold its shared memory, which
 * prevents a new server from starting, and its pid may belong to another process by now. The caller must hold the lifecycle lock, and no
 * server may be running.
 */
async function clearStaleProcesses(cluster: Cluster): Promise<void> {
  const stale = readPidFile(cluster);
  if (!stale) return;
  const children = listProcesses().filter(({ command }) => isChildOf(cluster, command));
  for (const { pid } of children) sendSignal(pid, 'SIGKILL');
  if (!(await waitUntil(() => children.every(({ pid }) => !isRunning(pid)), childrenMaxMs))) {
    throw new Error(
      `Processes of a dead PostgreSQL in ${cluster.location} did not end: ${children.map(({ pid }) => pid).join(', ')}.`,
    );
  }
  // Keep the files of a PostgreSQL that is not ours: they make the new server refuse to start.
  if (isForeignPostgres(commandOf(stale.pid))) return;
  rmSync(join(cluster.location, `.s.PGSQL.${stale.port}.lock`), { force: true });
  rmSync(pidFileOf(cluster), { force: true });
}

/** Returns the server's command line, whose settings override every file in the database folder. */
function serverArguments(cluster: Cluster, address: ServerAddress, extra: ServerSettings): string[] {
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
