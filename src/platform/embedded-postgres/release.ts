import { findPostmaster, haltPostmaster } from './server/postmaster.ts';
import { sendSignal } from './os/processes.ts';
import type { Server } from './server/server.ts';
import type { Users } from './data-dir/users.ts';

const turnMaxMs = 10_000;

/** Ends this process's use of the server and stops it where no other process uses it. A server that is gone is no error. */
export async function leaveServer(users: Users, { cluster }: Server, log: (line: string) => void): Promise<void> {
  try {
    await users.takeTurn(async () => {
      users.leave();
      if (users.isUsed()) return log('left running, since another process uses it');
      const running = findPostmaster(cluster);
      if (running) await haltPostmaster(running.pid);
    }, turnMaxMs);
  } finally {
    users.leave();
  }
}

/** The same for a process that ends without `stop`, as far as it goes without waiting: the server gets its signal. */
export function abandonServer(users: Users, { cluster }: Server): void {
  users.tryTurn(() => {
    users.leave();
    const running = users.isUsed() ? undefined : findPostmaster(cluster);
    if (running) sendSignal(running.pid, 'SIGINT');
  });
}
