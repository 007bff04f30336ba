import { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { type FileLock, tryLock } from '../lib/storage/file-lock.ts';
import { type ServerAddress, socketAddress } from './address.ts';
import { binariesFor, type Cluster, ensurePassword, findPassword, openCluster, writeAccessRules } from './cluster.ts';
import { launchPostmaster, type ServerSettings } from './launch-postmaster.ts';
import {
  findPostmaster,
  haltPostmaster,
  type PidFile,
  type Postmaster,
  readPidFile,
  waitForReady,
} from './postmaster.ts';
import { isRunning, waitUntil } from './processes.ts';

const attemptsMax = 3;
const dyingMaxMs = 300;
const responseMaxMs = 5_000;

export type Server = Postmaster & { cluster: Cluster; url: string; location: string; isNew: boolean };
/** `isUsed`: other processes use the server, so it must not be stopped. `requiredAddress`: the only acceptable address. */
type ServerRequest = {
  dataDir: string;
  isUsed: boolean;
  requiredAddress?: ServerAddress;
  settings: ServerSettings;
  log: (line: string) => void;
};

/**
 * Returns the running server of a data directory if it responds, else starts a new one. The caller must hold the lifecycle lock.
 * Stops a broken server first, or throws if other processes use it.
 */
export async function ensureServer(request: ServerRequest): Promise<Server> {
  const cluster = await openCluster(request.dataDir, request.log);
  const found = await findServer(cluster, request);
  if (found) return found;
  try {
    return await startServer(cluster, request);
  } catch (error) {
    // A server may appear late if its starter was killed before the server wrote its pid.
    const lateServer = await findServer(cluster, request);
    if (lateServer) return lateServer;
    throw error;
  }
}

async function findServer(cluster: Cluster, request: ServerRequest): Promise<Server | undefined> {
  const running = findPostmaster(cluster);
  if (!running) return undefined;
  const result = await inspectServer(cluster, running, request.log);
  if (!result || 'pid' in result) return result;
  if (request.isUsed && running.status !== 'stopping') {
    throw new Error(`PostgreSQL (pid ${running.pid}) in ${cluster.location} cannot be joined: ${result.reason}.`);
  }
  request.log(`stopping the existing server (pid ${running.pid}): ${result.reason}`);
  await haltPostmaster(running.pid, result.kind === 'unresponsive');
  return undefined;
}

/** Returns the running server, why it cannot be used, or undefined if it has ended meanwhile. */
async function inspectServer(
  cluster: Cluster,
  running: PidFile,
  log: ServerRequest['log'],
): Promise<Server | ProbeFailure | undefined> {
  if (!findPassword(cluster.dataDir)) return { kind: 'refused', reason: 'the file with its password is missing' };
  if (running.status === 'stopping') return { kind: 'refused', reason: 'it is already stopping' };
  if (!(await waitForReady(cluster, running.pid, log))) return undefined;
  const found = findPostmaster(cluster);
  if (!found?.port) return undefined;
  const server = toServer(cluster, found, false);
  const problem = await probeServer(server.url);
  if (!problem) return server;
  return (await isDying(running.pid)) ? undefined : problem;
}

async function startServer(
  cluster: Cluster,
  { isUsed, requiredAddress, settings, log }: ServerRequest,
): Promise<Server> {
  const binaries = binariesFor(cluster);
  await ensurePassword(cluster, binaries);
  writeAccessRules(cluster.location);
  // The connection pools of other processes use the address of the server that died.
  const previous = isUsed ? readPidFile(cluster) : undefined;
  const address = requiredAddress ?? (previous?.status === 'ready' ? previous : socketAddress(cluster.location));
  const launch = { address, isAddressFixed: requiredAddress !== undefined, settings, log };
  for (let attempt = 1; ; attempt++) {
    const server = toServer(cluster, await launchPostmaster(cluster, binaries, launch), true);
    const problem = await probeServer(server.url);
    if (!problem) return server;
    if (attempt < attemptsMax && (await isDying(server.pid))) continue;
    await haltPostmaster(server.pid, problem.kind === 'unresponsive');
    throw new Error(`PostgreSQL in ${cluster.location} runs but rejects connections: ${problem.reason}`);
  }
}

/** Waits briefly for a server that was just killed and is still closing connections. */
function isDying(pid: number): Promise<boolean> {
  return waitUntil(() => !isRunning(pid), dyingMaxMs);
}

function toServer(cluster: Cluster, { pid, host, port }: Postmaster, isNew: boolean): Server {
  const url = `postgres://tocsin:${findPassword(cluster.dataDir)}@${encodeURIComponent(host)}:${port}/tocsin`;
  return { pid, host, port, cluster, url, location: cluster.location, isNew };
}

/** `refused`: the server rejected the connection or query. `unresponsive`: no PostgreSQL response within the time limit. */
type ProbeFailure = { kind: 'refused' | 'unresponsive'; reason: string };

/** Runs a query and returns why it failed, or undefined. A server without free connections counts as healthy. */
async function probeServer(url: string): Promise<ProbeFailure | undefined> {
  const socket = new Socket();
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: responseMaxMs,
    query_timeout: responseMaxMs,
    stream: () => socket,
  });
  // An unhandled error event of a connection that breaks later would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('SELECT 1');
    await client.end();
    return undefined;
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    if (code === '53300') return undefined;
    return { kind: /^[0-9][0-9A-Z]{4}$/.test(code ?? '') ? 'refused' : 'unresponsive', reason: message };
  } finally {
    socket.destroy();
  }
}

const checkEveryMs = 250;
const firstDelayMs = 100;
const delayMaxMs = 10_000;
const stopWaitMaxMs = 10_000;

/** `stop` ends the supervision and waits up to 10 s for a restart in progress. */
type Supervisor = { stop: () => Promise<void> };

/** Restarts a server that dies, with growing pauses between attempts, until `stop` is called. */
export function superviseServer(
  first: Server,
  log: (line: string) => void,
  restart: () => Promise<Server>,
): Supervisor {
  const ending = new AbortController();
  let { pid } = first;
  let recovery: Promise<void> | undefined;

  const recover = async (): Promise<void> => {
    log(`the server (pid ${pid}) died and is being restarted`);
    for (let delayMs = firstDelayMs; !ending.signal.aborted; delayMs = Math.min(delayMs * 2, delayMaxMs)) {
      try {
        const server = await restart();
        pid = server.pid;
        log(`restarted (pid ${pid})`);
        if (server.url !== first.url) log('its address or password has changed. Restart this process to use it');
        return;
      } catch (error) {
        log(`restart failed, next attempt in ${delayMs} ms: ${(error as Error).message}`);
        await sleep(delayMs, undefined, { signal: ending.signal, ref: false }).catch(() => {});
      }
    }
  };
  const check = (): void => {
    if (recovery || isRunning(pid)) return;
    recovery = recover().finally(() => {
      recovery = undefined;
    });
  };
  const timer = setInterval(check, checkEveryMs).unref();
  return {
    stop: async () => {
      clearInterval(timer);
      ending.abort();
      await Promise.race([recovery, sleep(stopWaitMaxMs, undefined, { ref: false })]);
    },
  };
}

const lockWaitMaxMs = 330_000;
const stepMs = 20;

/**
 * The processes that use the server of a data directory. Each holds a shared lock on the file `users`, and the last one to leave stops
 * the server. The lifecycle lock (file `turn`) serializes every start, join, restart and leave across all processes.
 */
export type ServerUsage = {
  /** Runs `work` while holding the lifecycle lock. Waits at most `maxMs` for it. */
  withLifecycleLock: <T>(work: () => Promise<T>, maxMs?: number) => Promise<T>;
  /** Runs `work` if the lifecycle lock is free, without waiting or releasing it: for the end of the process. */
  tryLifecycleLock: (work: () => void) => void;
  /** Returns whether any process uses the server. The caller must hold the lifecycle lock. */
  isUsed: () => boolean;
  join: () => void;
  leave: () => void;
};

export function openServerUsage(lockDir: string): ServerUsage {
  const lifecycleFile = join(lockDir, 'turn');
  const usersFile = join(lockDir, 'users');
  let usageLock: FileLock | undefined;
  return {
    withLifecycleLock: async (work, maxMs = lockWaitMaxMs) => {
      const lock = await waitForLock(lifecycleFile, maxMs);
      try {
        return await work();
      } finally {
        lock.release();
      }
    },
    tryLifecycleLock: (work) => {
      if (tryLock(lifecycleFile, 'one')) work();
    },
    isUsed: () => {
      const exclusiveLock = tryLock(usersFile, 'all');
      exclusiveLock?.release();
      return !exclusiveLock;
    },
    join: () => {
      usageLock = tryLock(usersFile, 'shared');
      if (!usageLock) throw new Error(`The lock file ${usersFile} is locked by another program.`);
    },
    leave: () => {
      usageLock?.release();
      usageLock = undefined;
    },
  };
}

async function waitForLock(file: string, maxMs: number): Promise<FileLock> {
  for (const start = performance.now(); ; await sleep(stepMs)) {
    const lock = tryLock(file, 'one');
    if (lock) return lock;
    if (performance.now() - start > maxMs) {
      throw new Error(`Another process has been starting or stopping PostgreSQL for ${maxMs / 1000} s (lock ${file}).`);
    }
  }
}
