import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FileLock, tryLock } from './file-lock.ts';
import { writeDurably } from './files.ts';
import { isRunning } from './processes.ts';

type Owner = { pid: number; startedAt: string };

/**
 * Makes this process the only one that serves or works on the data directory, until it releases or dies.
 * Throws a sentence naming the directory and the other process where there is one.
 */
export async function takeOwnership(dataDir: string, lockDir: string): Promise<FileLock> {
  const lock = tryLock(join(lockDir, 'owner'), 'one');
  const file = join(dataDir, 'owner.json');
  if (!lock) throw new Error(refusal(dataDir, await findOwner(file)));
  writeDurably(file, JSON.stringify({ pid: process.pid, startedAt: new Date().toISOString() } satisfies Owner), 0o644);
  return {
    release: () => {
      rmSync(file, { force: true });
      lock.release();
    },
  };
}

function refusal(dataDir: string, owner: Owner | undefined): string {
  const who = owner ? `the process ${owner.pid}, started ${owner.startedAt}` : 'another process';
  return `The data directory ${dataDir} is in use by ${who}: stop it first, or set TOCSIN_DATA_DIR to another directory.`;
}

/** The winner of a race may not have written its name yet, so a missing or dead one is looked for again. */
async function findOwner(file: string): Promise<Owner | undefined> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const owner = readOwner(file);
    if (owner && isRunning(owner.pid)) return owner;
    await sleep(25);
  }
  return undefined;
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
