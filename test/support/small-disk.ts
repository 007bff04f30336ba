import { execFileSync } from 'node:child_process';

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
