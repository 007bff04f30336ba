import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { type Address, findLoopback, isSocket } from '../address.ts';
import type { Binaries } from '../binaries.ts';
import type { Cluster } from '../cluster.ts';
import { type Postmaster, waitForReady } from './postmaster.ts';
import { clearRemains } from './stale-processes.ts';
import { lastLines, serverEnv } from '../os/run-program.ts';
import { credentials } from '../os/server-user.ts';
import { type Settings, serverArguments } from './server-settings.ts';

/** `at`: tried first. `isFixed`: no other will do, since a pool already holds it. */
export type Launch = { at: Address; isFixed: boolean; settings: Settings; log: (line: string) => void };

const attemptsMax = 4;
const logMaxBytes = 1 << 20;

/**
 * Starts the server and waits until it takes connections. Loopback, where no socket can be (a path over 107 bytes, a file system
 * without them) or a port is taken, or a signal from outside is reason for another attempt; for any other end it throws with the
 * last words of the server's log.
 */
export async function launchPostmaster(cluster: Cluster, binaries: Binaries, launch: Launch): Promise<Postmaster> {
  let { at } = launch;
  for (let attempt = 1; ; attempt++) {
    await clearRemains(cluster);
    const end = await tryLaunch(cluster, binaries, { ...launch, at });
    if ('pid' in end) return { ...at, pid: end.pid };
    const isBarred = /Address already in use|could not create any (TCP\/IP|Unix-domain) sockets/.test(end.words);
    if (isBarred && !launch.isFixed) {
      if (isSocket(at)) launch.log(`listens on loopback, since there can be no socket: ${lastLines(end.words)}`);
      at = await findLoopback();
    } else if (!end.signal) throw failure(cluster, end);
    if (attempt === attemptsMax) throw failure(cluster, end);
  }
}

type End = { signal: NodeJS.Signals | null; words: string };

function failure(cluster: Cluster, { signal, words }: End): Error {
  const how = signal ? `was ended by ${signal} as it started` : 'did not start';
  return new Error(`PostgreSQL in ${cluster.location} ${how}: ${lastLines(words)}`);
}

async function tryLaunch(cluster: Cluster, binaries: Binaries, launch: Launch): Promise<{ pid: number } | End> {
  const logFile = `${cluster.location}.log`;
  const before = rotate(logFile);
  const args = serverArguments(cluster, launch.at, launch.settings);
  const child = spawnServer(binaries.postgres, args, { cluster, logFile });
  const end = new Promise<End>((resolve) => {
    child.once('error', (error) => resolve({ signal: null, words: error.message }));
    child.once('exit', (_, signal) => resolve({ signal, words: wordsSince(logFile, before) }));
  });
  if (!child.pid || !(await waitForReady(cluster, child.pid, launch.log))) return end;
  child.unref();
  return { pid: child.pid };
}

/** Empty where the log is gone: a server that ends long after its start may outlive its folder. */
function wordsSince(logFile: string, before: number): string {
  return existsSync(logFile) ? readFileSync(logFile).subarray(before).toString() : '';
}

/** A group of its own keeps the terminal's Ctrl-C from it until we have finished; a file for its log outlives us, a pipe would not. */
function spawnServer(
  postgres: string,
  args: string[],
  { cluster, logFile }: { cluster: Cluster; logFile: string },
): ChildProcess {
  const fd = openSync(logFile, 'a', 0o600);
  try {
    const options = { ...credentials(cluster.user), cwd: '/', env: serverEnv, detached: true } as const;
    return spawn(postgres, args, { ...options, stdio: ['ignore', fd, fd] });
  } finally {
    closeSync(fd);
  }
}

/** Keeps the last log beside the current one. Returns where the current one ends. */
function rotate(logFile: string): number {
  if (!existsSync(logFile)) return 0;
  const { size } = statSync(logFile);
  if (size <= logMaxBytes) return size;
  renameSync(logFile, `${logFile}.1`);
  return 0;
}
