import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** Puts a file system of memory in the place of a folder. `size` is as for tmpfs, such as `4m`. Returns false without the right to mount, which only root has. */
export function mountSmallDisk(folder: string, size: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=755`, 'tmpfs', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Takes the file system away, even while a process still uses it. */
export const unmountSmallDisk = (folder: string): void => void execFileSync('umount', ['-l', folder]);

const mountTable = '/proc/self/mountinfo';

/** Lists the folders below `parent` that have a file system of their own, the inner ones first. Without `/proc`, lists none. */
export function listSmallDisks(parent: string): string[] {
  if (!existsSync(mountTable)) return [];
  const folders = readFileSync(mountTable, 'utf8')
    .split('\n')
    // The fifth field is the mount point, with blanks and backslashes in octal (proc(5)).
    .map((line) =>
      (line.split(' ')[4] ?? '').replaceAll(/\\(\d{3})/g, (_, octal) => String.fromCharCode(parseInt(octal, 8))),
    );
  return folders.filter((folder) => folder.startsWith(`${parent}/`)).toReversed();
}
