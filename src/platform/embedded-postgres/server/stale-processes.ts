import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../cluster.ts';
import { isChildOf, isForeignPostgres, pidFileOf, readPidFile } from './postmaster.ts';
import { commandOf, isRunning, listProcesses, sendSignal, waitUntil } from '../os/processes.ts';

const childrenMaxMs = 5_000;

/**
 * Cleans up after a server that died without a shutdown. Children busy in a query keep running and hold its shared memory, which
 * prevents a new server from starting, and its pid may belong to another process by now. The caller must hold the lifecycle lock, and no
 * server may be running.
 */
export async function clearStaleProcesses(cluster: Cluster): Promise<void> {
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
