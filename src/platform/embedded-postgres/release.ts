import { findPostmaster, haltPostmaster } from './server/postmaster.ts';
import { sendSignal } from './os/processes.ts';
import type { Server } from './server/server.ts';
import type { ServerUsage } from './data-dir/server-usage.ts';

const lockWaitMaxMs = 10_000;

/** Ends this process's use of the server and stops the server if no other process uses it. A server that has already ended is not an error. */
export async function releaseServer(
  usage: ServerUsage,
  { cluster }: Server,
  log: (line: string) => void,
): Promise<void> {
  try {
    await usage.withLifecycleLock(async () => {
      usage.leave();
      if (usage.isUsed()) return log('left running because another process uses it');
      const running = findPostmaster(cluster);
      if (running) await haltPostmaster(running.pid);
    }, lockWaitMaxMs);
  } finally {
    usage.leave();
  }
}

/** Like `releaseServer`, for a process that exits without `stop`: signals the server without waiting for its end. */
export function releaseServerOnExit(usage: ServerUsage, { cluster }: Server): void {
  usage.tryLifecycleLock(() => {
    usage.leave();
    const running = usage.isUsed() ? undefined : findPostmaster(cluster);
    if (running) sendSignal(running.pid, 'SIGINT');
  });
}
