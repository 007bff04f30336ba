import { chmodSync, mkdirSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isRunning } from '../../src/platform/embedded-postgres/processes.ts';
import { listSmallDisks, unmountSmallDisk } from './small-disk.ts';

const inMemory = '/dev/shm';
const inCheckout = resolve(import.meta.dirname, '../../node_modules/.cache/tocsin-test');
/** Room for the databases and data directories of all workers. Containers often have 64 MB. */
const minFreeBytes = 4 * 1024 ** 3;

/** Returns the directory that contains the data of this test run, or of a benchmark outside a run. */
export function getTestDir(): string {
  const dir = process.env['TOCSIN_TEST_DIR'] ?? inCheckout;
  mkdirSync(dir, { recursive: true });
  return dir;
}

/**
 * Creates the directory of a test run and returns a function that removes it. It is in memory where there is room, where databases are cloned
 * and durable writes end without waiting for a disk. The processes that inherit the environment find it with `getTestDir`.
 */
export function createTestDir(): () => void {
  if (process.env['TOCSIN_TEST_DIR']) return () => undefined;
  const parent = hasRoom(inMemory) ? inMemory : inCheckout;
  mkdirSync(parent, { recursive: true });
  removeStale(parent);
  const dir = join(parent, `tocsin-test-${process.pid}`);
  mkdirSync(dir);
  // The user of the database server must be able to enter it, whatever the umask.
  chmodSync(dir, 0o755);
  process.env['TOCSIN_TEST_DIR'] = dir;
  return () => removeDir(dir);
}

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= minFreeBytes;
  } catch {
    return false;
  }
}

/** Removes the directories of runs that were killed. Reports on the console the ones that it cannot remove, and leaves them. */
export function removeStale(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = Number(/^tocsin-test-(\d+)$/.exec(name)?.[1]);
    const dir = join(parent, name);
    if (!pid || isRunning(pid) || statSync(dir).uid !== process.getuid?.()) continue;
    try {
      removeDir(dir);
    } catch (error) {
      const { message } = error as Error;
      console.warn(`The directory ${dir} of a killed test run cannot be removed. Remove it by hand. ${message}`);
    }
  }
}

/** Removes a directory, with the small disks that its tests have mounted. */
function removeDir(dir: string): void {
  for (const folder of listSmallDisks(dir)) unmountSmallDisk(folder);
  rmSync(dir, { recursive: true, force: true });
}
