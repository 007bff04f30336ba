import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ServerAddress, loopback } from './address.ts';
import type { Cluster } from './cluster.ts';
import { readTextFile } from './durable-files.ts';
import { commandOf, isRunning, sendSignal, waitUntil } from './processes.ts';

export type Postmaster = ServerAddress & { pid: number };
export type PidFile = Postmaster & { status: string };

const recoveryMaxMs = 300_000;
const fastMaxMs = 8_000;
const immediateMaxMs = 2_000;

/**
 * Reads postmaster.pid, which may be stale. Format: src/include/utils/pidfile.h of PostgreSQL (line 1 pid, 4 port, 5 socket folder,
 * 8 status).
 */
export function readPidFile(cluster: Cluster): PidFile | undefined {
  const lines = readTextFile(pidFileOf(cluster))?.split('\n') ?? [];
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  return { pid, host: lines[4] || loopback, port: Number(lines[3] ?? 0), status: (lines[7] ?? '').trim() };
}

export function pidFileOf(cluster: Cluster): string {
  return join(cluster.location, 'postmaster.pid');
}

/** Finds the running server of this cluster. The command line rules out another process that reuses the pid. */
export function findPostmaster(cluster: Cluster): PidFile | undefined {
  const file = readPidFile(cluster);
  return file && isRunning(file.pid) && isPostmasterOf(cluster, commandOf(file.pid)) ? file : undefined;
}

function isPostmasterOf(cluster: Cluster, command: string): boolean {
  return /(^|\/)postgres /.test(command) && command.includes(` cluster_name=${cluster.name} `);
}

/** Returns whether a process is a child of this cluster's postmaster. PostgreSQL puts the cluster's name into their titles. */
export function isChildOf(cluster: Cluster, command: string): boolean {
  return command.startsWith(`postgres: ${cluster.name}: `);
}

/** Returns whether a process is a PostgreSQL that Tocsin did not start. */
export function isForeignPostgres(command: string): boolean {
  return /(^|\/)(postgres|postmaster)( |$|:)/.test(command) && !/[ =]tocsin-[0-9a-f]{16}(:| )/.test(command);
}

/** Waits until the server accepts connections, up to 5 minutes for crash recovery. Returns false if the server ends instead. */
export async function waitForReady(cluster: Cluster, pid: number, log: (line: string) => void): Promise<boolean> {
  const start = performance.now();
  for (let reports = 0; isRunning(pid); await sleep(performance.now() - start < 2_000 ? 10 : 100)) {
    const file = readPidFile(cluster);
    if (file?.pid === pid && file.status === 'ready') return true;
    const waited = performance.now() - start;
    if (waited > recoveryMaxMs)
      throw new Error(`PostgreSQL in ${cluster.location} was not ready after ${recoveryMaxMs / 1000} s.`);
    if (waited > (reports + 1) * 10_000) log(`still starting after ${++reports * 10} s (recovering from a crash)`);
  }
  return false;
}

const shutdownSteps = [
  { signal: 'SIGINT', maxMs: fastMaxMs },
  { signal: 'SIGQUIT', maxMs: immediateMaxMs },
  { signal: 'SIGKILL', maxMs: immediateMaxMs },
] as const;

/**
 * Stops the server: fast shutdown (SIGINT), then immediate (SIGQUIT), then SIGKILL, each after a time limit. Resolves when it has ended.
 * Skips the fast shutdown if the server `isHanging`; the next start recovers.
 */
export async function haltPostmaster(pid: number, isHanging = false): Promise<void> {
  for (const { signal, maxMs } of isHanging ? shutdownSteps.slice(1) : shutdownSteps) {
    sendSignal(pid, signal);
    if (await waitUntil(() => !isRunning(pid), maxMs)) return;
  }
  throw new Error(`PostgreSQL (pid ${pid}) did not end, not even after SIGKILL.`);
}
