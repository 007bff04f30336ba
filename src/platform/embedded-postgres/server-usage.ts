import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FileLock, tryLock } from '../lib/storage/file-lock.ts';

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
