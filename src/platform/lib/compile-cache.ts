import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/** Returns the environment that lets a child process share this process's cache of compiled code, which halves the time of its start. */
export function findCompileCache(): Record<string, string> {
  const versionDir = getCompileCacheDir();
  // Node.js adds a folder for its own version.
  return versionDir === undefined ? {} : { NODE_COMPILE_CACHE: dirname(versionDir) };
}
