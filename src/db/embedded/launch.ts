import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Binaries } from './binaries.ts';
import type { Cluster } from './cluster.ts';
import { type Postmaster, waitForReady } from './postmaster.ts';
import { lastLines, serverEnv } from './run.ts';
import { credentials } from './server-user.ts';
import { type Settings, serverArguments } from './settings.ts';

/** `port`: tried first. `portFixed`: no other will do, since a pool already holds it. */
export type Launch = { port: number | undefined; portFixed: boolean; settings: Settings; log: (line: string) => void };

const portAttemptsMax = 4;
const logMaxBytes = 1 << 20;

/** Starts the server and waits until it takes connections. Throws with the end of its log where it ends instead. */
export async function launchPostmaster(cluster: Cluster, binaries: Binaries, launch: Launch): Promise<Postmaster> {
  for (let attempt = 1; ; attempt++) {
    const port = (attempt === 1 || launch.portFixed ? launch.port : undefined) ?? (await findFreePort());
    const { pid, problem } = await tryLaunch(cluster, binaries, { ...launch, port });
    if (!problem) return { pid, port };
    const portTaken = /Address already in use|could not create any TCP\/IP sockets/.test(problem);
    if (!portTaken || launch.portFixed || attempt === portAttemptsMax) {
      throw new Error(`PostgreSQL in ${cluster.location} did not start: ${lastLines(problem)}`);
    }
  }
}

type Attempt = Omit<Launch, 'port'> & { port: number };

async function tryLaunch(
  cluster: Cluster,
  binaries: Binaries,
  attempt: Attempt,
): Promise<{ pid: number; problem?: string }> {
  const logFile = `${cluster.location}.log`;
  const before = rotate(logFile);
  const child = spawnServer(binaries.postgres, serverArguments(cluster, attempt.port, attempt.settings), {
    cluster,
    logFile,
  });
  const failure = new Promise<string>((resolve) => child.once('error', (error) => resolve(error.message)));
  if (!child.pid) return { pid: 0, problem: await failure };
  if (await waitForReady(cluster, child.pid, attempt.log)) return { pid: child.pid };
  return { pid: child.pid, problem: readFileSync(logFile).subarray(before).toString() || 'it said nothing' };
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
    const child = spawn(postgres, args, { ...options, stdio: ['ignore', fd, fd] });
    child.unref();
    return child;
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

function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
