import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FileLock, tryLock } from './file-lock.ts';

const turnMaxMs = 330_000;
const stepMs = 20;

/**
 * Who uses the server of a data directory. Each user holds a shared lock on `users`; the one that leaves and finds no other stops
 * the server. Every start, join, restart and leave happens in a turn, one at a time over all processes.
 */
export type Users = {
  /** Runs `work` while no other process starts, joins, restarts or leaves. Waits at most `maxMs` for that. */
  takeTurn: <T>(work: () => Promise<T>, maxMs?: number) => Promise<T>;
  /** A turn at once or never, without waiting: for the end of the process. */
  tryTurn: (work: () => void) => void;
  /** Call in a turn. */
  isUsed: () => boolean;
  join: () => void;
  leave: () => void;
};

export function usersOf(lockDir: string): Users {
  const turnFile = join(lockDir, 'turn');
  const usersFile = join(lockDir, 'users');
  let held: FileLock | undefined;
  return {
    takeTurn: async (work, maxMs = turnMaxMs) => {
      const turn = await waitForLock(turnFile, maxMs);
      try {
        return await work();
      } finally {
        turn.release();
      }
    },
    tryTurn: (work) => {
      const turn = tryLock(turnFile, 'one');
      if (turn) work();
    },
    isUsed: () => {
      const all = tryLock(usersFile, 'all');
      all?.release();
      return !all;
    },
    join: () => {
      held = tryLock(usersFile, 'shared');
      if (!held) throw new Error(`The lock file ${usersFile} is held by a program that is not ours.`);
    },
    leave: () => {
      held?.release();
      held = undefined;
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
