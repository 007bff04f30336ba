import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isPastFolder, type LogFolder, type LogObject } from './log-folder.ts';

/** A file that changed later than this may still be being written. */
const settledMs = 10_000;
const pageSize = 1_000;

/** Opens a folder of this machine. Hidden files and links are not read. */
export function openDirectory(root: string): LogFolder {
  async function* list(path: string, since: Date): AsyncGenerator<LogObject[]> {
    const entries = (await readdir(join(root, path), { withFileTypes: true })).filter(
      ({ name }) => !name.startsWith('.'),
    );
    const names = entries.filter((entry) => entry.isFile()).map(({ name }) => `${path}${name}`);
    for (let at = 0; at < names.length; at += pageSize) {
      const objects = await Promise.all(names.slice(at, at + pageSize).map((key) => describe(root, key)));
      const latest = new Date(Date.now() - settledMs);
      yield objects.filter(({ modifiedAt }) => modifiedAt >= since && modifiedAt <= latest);
    }
    for (const entry of entries) {
      const inner = `${path}${entry.name}/`;
      if (entry.isDirectory() && !isPastFolder(inner, since)) yield* list(inner, since);
    }
  }
  return {
    list: (since) => list('', since),
    async read(key) {
      try {
        return await readFile(join(root, key));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
    close: () => undefined,
  };
}

async function describe(root: string, key: string): Promise<LogObject> {
  const { size, mtime, mtimeMs } = await stat(join(root, key));
  return { key, version: `${size}-${mtimeMs}`, bytes: size, modifiedAt: mtime };
}
