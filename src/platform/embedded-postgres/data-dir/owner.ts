import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FileLock, tryLock } from '../../lib/storage/file-lock.ts';
import { writeDurably } from './durable-files.ts';
import { isRunning } from '../os/processes.ts';

const attemptsMax = 80;
const stepMs = 25;

type Owner = { pid: number; startedAt: string };

/**
 * Makes this process the only one that serves or works on the data directory, until it releases the lock or ends.
 * Throws an error that names the directory and the current owner if there is one.
 */
export async function takeOwnership(dataDir: string, lockDir: string): Promise<FileLock> {
  const file = join(dataDir, 'owner.json');
  const lock = await waitForLock(join(lockDir, 'owner'), () => findLivingOwner(file) !== undefined);
  if (!lock) throw new Error(refusalMessage(dataDir, findLivingOwner(file)));
  writeDurably(file, JSON.stringify({ pid: process.pid, startedAt: new Date().toISOString() } satisfies Owner), 0o644);
  return {
    release: () => {
      rmSync(file, { force: true });
      lock.release();
    },
  };
}

/** Retries while the lock is held without a living owner on file: the holder has not written the file yet, or is about to end. */
async function waitForLock(file: string, isOwned: () => boolean): Promise<FileLock | undefined> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const lock = tryLock(file, 'one');
    if (lock || isOwned()) return lock;
    await sleep(stepMs);
  }
  return undefined;
}

function refusalMessage(dataDir: string, owner: Owner | undefined): string {
  const who = owner ? `the process ${owner.pid}, started ${owner.startedAt}` : 'another process';
  return `The data directory ${dataDir} is in use by ${who}. Stop it first, or set TOCSIN_DATA_DIR to another directory.`;
}

function findLivingOwner(file: string): Owner | undefined {
  const owner = readOwner(file);
  return owner && isRunning(owner.pid) ? owner : undefined;
}

function readOwner(file: string): Owner | undefined {
  try {
    const value = JSON.parse(readFileSync(file, 'utf8')) as Partial<Owner> | null;
    if (typeof value?.pid !== 'number' || typeof value.startedAt !== 'string') return undefined;
    return { pid: value.pid, startedAt: value.startedAt };
  } catch {
    return undefined;
  }
}
