import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../cluster.ts';
import { isChildOf, isForeignPostgres, pidFileOf, readPidFile } from './postmaster.ts';
import { commandOf, isRunning, listProcesses, sendSignal, waitUntil } from '../os/processes.ts';

const childrenMaxMs = 5_000;

/**
 * Clears what a server that died without a shutdown left behind: children busy in a query live on and keep its shared memory, which
 * stops a new server, and its pid may meanwhile be another process's. Call it only while holding the turn and with no server alive.
 */
export async function clearRemains(cluster: Cluster): Promise<void> {
  const stale = readPidFile(cluster);
  if (!stale) return;
  const children = listProcesses().filter(({ command }) => isChildOf(cluster, command));
  for (const { pid } of children) sendSignal(pid, 'SIGKILL');
  if (!(await waitUntil(() => children.every(({ pid }) => !isRunning(pid)), childrenMaxMs))) {
    throw new Error(
      `Processes of a dead PostgreSQL in ${cluster.location} do not end: ${children.map(({ pid }) => pid).join(', ')}.`,
    );
  }
  // Of a PostgreSQL that is not ours the files are left to stand, for the new server to be refused by them.
  if (isForeignPostgres(commandOf(stale.pid))) return;
  rmSync(join(cluster.location, `.s.PGSQL.${stale.port}.lock`), { force: true });
  rmSync(pidFileOf(cluster), { force: true });
}
