import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, loopback } from '../address.ts';
import type { Cluster } from '../cluster.ts';
import { readText } from '../data-dir/durable-files.ts';
import { commandOf, isRunning, sendSignal, waitUntil } from '../os/processes.ts';

export type Postmaster = Address & { pid: number };
export type PidFile = Postmaster & { status: string };

const recoveryMaxMs = 300_000;
const fastMaxMs = 8_000;
const immediateMaxMs = 2_000;

/** What the server wrote of itself (src/include/utils/pidfile.h: line 1 pid, 4 port, 5 folder of the socket, 8 status); it may be stale. */
export function readPidFile(cluster: Cluster): PidFile | undefined {
  const lines = readText(pidFileOf(cluster))?.split('\n') ?? [];
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  return { pid, host: lines[4] || loopback, port: Number(lines[3] ?? 0), status: (lines[7] ?? '').trim() };
}

export function pidFileOf(cluster: Cluster): string {
  return join(cluster.location, 'postmaster.pid');
}

/** The living server of this cluster. A process that merely got the pid of a dead one has another command line. */
export function findPostmaster(cluster: Cluster): PidFile | undefined {
  const file = readPidFile(cluster);
  return file && isRunning(file.pid) && isPostmasterOf(cluster, commandOf(file.pid)) ? file : undefined;
}

function isPostmasterOf(cluster: Cluster, command: string): boolean {
  return /(^|\/)postgres /.test(command) && command.includes(` cluster_name=${cluster.name} `);
}

/** A process of this cluster that is not its postmaster: PostgreSQL puts the cluster's name into their titles. */
export function isChildOf(cluster: Cluster, command: string): boolean {
  return command.startsWith(`postgres: ${cluster.name}: `);
}

/** Whether the process is a PostgreSQL that none of our programs started. */
export function isForeignPostgres(command: string): boolean {
  return /(^|\/)(postgres|postmaster)( |$|:)/.test(command) && !/[ =]tocsin-[0-9a-f]{16}(:| )/.test(command);
}

/** Waits until the server takes connections; crash recovery may need a while, so long as it runs. False where it ends instead. */
export async function waitForReady(cluster: Cluster, pid: number, log: (line: string) => void): Promise<boolean> {
  const start = performance.now();
  for (let told = 0; isRunning(pid); await sleep(performance.now() - start < 2_000 ? 10 : 100)) {
    const file = readPidFile(cluster);
    if (file?.pid === pid && file.status === 'ready') return true;
    const waited = performance.now() - start;
    if (waited > recoveryMaxMs)
      throw new Error(`PostgreSQL in ${cluster.location} was not ready after ${recoveryMaxMs / 1000} s.`);
    if (waited > (told + 1) * 10_000)
      log(`still starting after ${++told * 10} s (it recovers what was written before a crash)`);
  }
  return false;
}

const steps = [
  { signal: 'SIGINT', maxMs: fastMaxMs },
  { signal: 'SIGQUIT', maxMs: immediateMaxMs },
  { signal: 'SIGKILL', maxMs: immediateMaxMs },
] as const;

/**
 * Stops the server: fast shutdown (SIGINT), after a bound immediate (SIGQUIT), after another SIGKILL. Done when it is gone.
 * One that `hangs` is spared the first: its next start recovers.
 */
export async function haltPostmaster(pid: number, hangs = false): Promise<void> {
  for (const { signal, maxMs } of hangs ? steps.slice(1) : steps) {
    sendSignal(pid, signal);
    if (await waitUntil(() => !isRunning(pid), maxMs)) return;
  }
  throw new Error(`PostgreSQL (pid ${pid}) does not end, not even by SIGKILL.`);
}
