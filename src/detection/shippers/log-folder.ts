import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** A log file. `key` is its path below the folder. `version` changes with its content. */
export type LogObject = { key: string; version: string; bytes: number; modifiedAt: Date };

/** A folder of log files that others write. */
export type LogFolder = {
  /** Lists the objects that were modified since then, in pages. Skips folders of earlier days. */
  list: (since: Date) => AsyncIterable<LogObject[]>;
  /** Returns undefined if the object no longer exists. */
  read: (key: string) => Promise<Buffer | undefined>;
  close: () => void;
};

const dayMs = 86_400_000;
/** The end of a path such as `2026/11/23/` or `year=2026/month=11/`. */
const datedPath = /(?:^|\/)(?:year=)?(20\d\d)\/(?:(?:month=)?(\d\d)\/(?:(?:day=)?(\d\d)\/)?)?$/;

/**
 * Returns whether a path is a folder of a year, month or day that ended more than a day before `since`. The day allows for objects that are
 * written late.
 */
export function isPastFolder(path: string, since: Date): boolean {
  const [, year, month, day] = datedPath.exec(path) ?? [];
  if (year === undefined) return false;
  const [y, m, d] = [Number(year), Number(month), Number(day)];
  const end = day ? Date.UTC(y, m - 1, d + 1) : month ? Date.UTC(y, m) : Date.UTC(y + 1, 0);
  return end + dayMs <= since.getTime();
}

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
