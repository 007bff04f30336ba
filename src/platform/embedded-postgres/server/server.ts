import { type Address, socketOf } from '../address.ts';
import { type Problem, askServer } from './probe.ts';
import { type Cluster, binariesFor, ensurePassword, findPassword, openCluster, writeRules } from '../cluster.ts';
import { launchPostmaster } from './launch-postmaster.ts';
import {
  type PidFile,
  type Postmaster,
  findPostmaster,
  haltPostmaster,
  readPidFile,
  waitForReady,
} from './postmaster.ts';
import { isRunning, waitUntil } from '../os/processes.ts';
import type { Settings } from './server-settings.ts';

const attemptsMax = 3;
const dyingMaxMs = 300;

export type Server = Postmaster & { cluster: Cluster; url: string; location: string; isNew: boolean };
/** `isUsed`: other processes use the server, so that it may not be stopped under them. `at`: the only address that will do. */
export type Wanted = {
  dataDir: string;
  isUsed: boolean;
  at?: Address;
  settings: Settings;
  log: (line: string) => void;
};

/**
 * The running server of a data directory: the one that is there where it answers, else a new one. Call it only in a turn.
 * A broken one that nobody else uses is stopped first; one that others use is left, and the call fails with a sentence.
 */
export async function ensureServer(wanted: Wanted): Promise<Server> {
  const cluster = await openCluster(wanted.dataDir, wanted.log);
  const found = await findServer(cluster, wanted);
  if (found) return found;
  try {
    return await startServer(cluster, wanted);
  } catch (error) {
    // A server may come up late: its starter was killed before the server had written its pid.
    const late = await findServer(cluster, wanted);
    if (late) return late;
    throw error;
  }
}

async function findServer(cluster: Cluster, wanted: Wanted): Promise<Server | undefined> {
  const running = findPostmaster(cluster);
  if (!running) return undefined;
  const found = await examine(cluster, running, wanted.log);
  if (!found || 'pid' in found) return found;
  if (wanted.isUsed && running.status !== 'stopping') {
    throw new Error(`PostgreSQL (pid ${running.pid}) in ${cluster.location} cannot be joined: ${found.reason}.`);
  }
  wanted.log(`ending the server that is there (pid ${running.pid}): ${found.reason}`);
  await haltPostmaster(running.pid, found.kind === 'silent');
  return undefined;
}

/** The living server if it can be used, why not if it cannot, undefined if it ended meanwhile. */
async function examine(cluster: Cluster, running: PidFile, log: Wanted['log']): Promise<Server | Problem | undefined> {
  if (!findPassword(cluster.dataDir)) return { kind: 'refuses', reason: 'the file with its password is missing' };
  if (running.status === 'stopping') return { kind: 'refuses', reason: 'it is already stopping' };
  if (!(await waitForReady(cluster, running.pid, log))) return undefined;
  const found = findPostmaster(cluster);
  if (!found?.port) return undefined;
  const server = serverOf(cluster, found, false);
  const problem = await askServer(server.url);
  if (!problem) return server;
  return (await isDying(running.pid)) ? undefined : problem;
}

async function startServer(cluster: Cluster, { isUsed, at, settings, log }: Wanted): Promise<Server> {
  const binaries = binariesFor(cluster);
  await ensurePassword(cluster, binaries);
  writeRules(cluster.location);
  // The pools of other users hold the address of the one that died.
  const last = isUsed ? readPidFile(cluster) : undefined;
  const first = at ?? (last?.status === 'ready' ? last : socketOf(cluster));
  const launch = { at: first, isFixed: at !== undefined, settings, log };
  for (let attempt = 1; ; attempt++) {
    const server = serverOf(cluster, await launchPostmaster(cluster, binaries, launch), true);
    const problem = await askServer(server.url);
    if (!problem) return server;
    if (attempt < attemptsMax && (await isDying(server.pid))) continue;
    await haltPostmaster(server.pid, problem.kind === 'silent');
    throw new Error(`PostgreSQL in ${cluster.location} runs but does not let us in: ${problem.reason}`);
  }
}

/** A server that was killed a moment ago still has connections to break. */
function isDying(pid: number): Promise<boolean> {
  return waitUntil(() => !isRunning(pid), dyingMaxMs);
}

function serverOf(cluster: Cluster, { pid, host, port }: Postmaster, isNew: boolean): Server {
  const url = `postgres://tocsin:${findPassword(cluster.dataDir)}@${encodeURIComponent(host)}:${port}/tocsin`;
  return { pid, host, port, cluster, url, location: cluster.location, isNew };
}
