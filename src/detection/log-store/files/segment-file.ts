import { createReadStream } from 'node:fs';
import { mkdir, open, rename, unlink, type FileHandle } from 'node:fs/promises';
import { dirname, join, basename } from 'node:path';

export type WrittenFile = { path: string; rows: number; bytes: number; timeFromMs: number; timeToMs: number };

/** Writes a text segment: one line per event with its ID, its time in microseconds and its JSON, separated by tabs. */
type SegmentWriter = {
  add: (id: string, timeMicros: number, text: string) => Promise<void>;
  /** Syncs the file and its folder. No event may be reported as accepted before this resolves. */
  finish: () => Promise<WrittenFile>;
  discard: () => Promise<void>;
};

const bufferChars = 1024 * 1024;

/**
 * Creates a segment writer. `path` is relative to `folder`, the organization's log folder. The file is created when the first events are
 * written. A segment that is not `isDurable` is not synced and may be lost in a crash.
 */
export function createSegmentWriter(folder: string, path: string, { isDurable = true } = {}): SegmentWriter {
  const full = join(folder, path);
  let file: FileHandle | undefined;
  let pending: string[] = [];
  let pendingChars = 0;
  const written: WrittenFile = { path, rows: 0, bytes: 0, timeFromMs: Infinity, timeToMs: -Infinity };

  async function flush(): Promise<void> {
    if (pending.length === 0) return;
    file ??= await create(full);
    const bytes = Buffer.from(pending.join(''));
    pending = [];
    pendingChars = 0;
    await file.write(bytes);
    written.bytes += bytes.length;
  }

  return {
    async add(id, timeMicros, text) {
      const line = `${id}\t${timeMicros}\t${text}\n`;
      pending.push(line);
      pendingChars += line.length;
      written.rows += 1;
      written.timeFromMs = Math.min(written.timeFromMs, Math.floor(timeMicros / 1000));
      written.timeToMs = Math.max(written.timeToMs, Math.floor(timeMicros / 1000));
      if (pendingChars >= bufferChars) await flush();
    },
    async finish() {
      await flush();
      if (isDurable) await file?.sync();
      await file?.close();
      file = undefined;
      if (isDurable) await syncFolder(dirname(full));
      return written;
    },
    async discard() {
      await file?.close();
      file = undefined;
      pending = [];
      await unlink(full).catch(() => undefined);
    },
  };
}

/** Returns the ID, the time in microseconds and the JSON of each event of a text segment. */
export async function* readSegmentLines(
  path: string,
): AsyncGenerator<{ id: string; timeMicros: number; text: string }> {
  for await (const line of readLines(path)) {
    const [id = '', time = ''] = line.split('\t', 2);
    yield { id, timeMicros: Number(time), text: line.slice(id.length + time.length + 2) };
  }
}

/** Returns the lines of a file. Node's readline does not fit, because it also ends a line at U+2028. */
async function* readLines(path: string): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of createReadStream(path, 'utf8')) {
    const lines = `${rest}${chunk as string}`.split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
}

async function create(path: string): Promise<FileHandle> {
  await createDurableFolder(dirname(path));
  return open(path, 'wx', 0o600);
}

/** Creates a folder and those above it. */
export async function createDurableFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  // A new folder is an entry of its parent folder, so the parent has to be synced too.
  if (first)
    for (let parent = path; parent.length >= dirname(first).length; parent = dirname(parent)) await syncFolder(parent);
}

/** Makes a folder's entries durable. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  await folder.sync().finally(() => folder.close());
}

/** Makes a file that another process wrote durable, including its folder entry. Returns its size in bytes. */
export async function syncFile(path: string): Promise<number> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
    return (await file.stat()).size;
  } finally {
    await file.close();
    await syncFolder(dirname(path));
  }
}

const movesMax = 5;

/** Moves a synced file durably into a folder, which is created, also if another process removes it as empty meanwhile. */
export async function moveFile(from: string, to: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await createDurableFolder(dirname(to));
      await rename(from, to);
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === movesMax) throw error;
    }
  }
  await syncFolder(dirname(to));
}

const extensions = { text: 'events', typed: 'columns', published: 'parquet' };

/**
 * Returns the path of a segment's file, whose folder is relative to the organization's. The extensions, but for those of files for other engines,
 * are none that the engine knows: DuckDB opens a file whose name a query uses as a table only if the name ends like `.csv` or `.parquet`, so no
 * query can open a segment by its name.
 */
export const segmentPath = (folder: string, id: string, kind: keyof typeof extensions): string =>
  join(folder, `${id}.${extensions[kind]}`);

/** Ends the names of files that are incomplete. */
export const partialSuffix = '.partial';

/** Returns the path of a file while it is written, which is outside of the folders that other engines read. */
export const partialPath = (id: string): string => `${id}${partialSuffix}`;

const datasetFolder = (dataset: string): string => `dataset=${dataset}`;

/** Returns whether a path is one for other engines. */
export const isPublished = (path: string): boolean => path.startsWith(datasetFolder(''));

/** Stands for the hour of files with events of several hours. A number, because engines derive the type of the column from its values. */
const severalHours = '24';

/**
 * Returns the folder for files that other engines read, which is that of a day, or of an hour of it. Dataset names consist of characters that
 * need no escaping. The engine could open these files by name, but `checkCteName` accepts no name with a dot.
 */
export function publishedFolder(dataset: string, at: Date, per: 'hour' | 'day'): string {
  const [date, time] = at.toISOString().split('T') as [string, string];
  return join(datasetFolder(dataset), `date=${date}`, `hour=${per === 'hour' ? time.slice(0, 2) : severalHours}`);
}

/** Returns the folders of the hour and the day of a file for other engines, innermost first, or an empty list for another file. */
export function partitionFolders(path: string): string[] {
  const hour = dirname(path);
  const day = dirname(hour);
  return basename(hour).startsWith('hour=') && basename(day).startsWith('date=') ? [hour, day] : [];
}

/** Returns the path of the list of the files that other engines read. They ignore names that begin with an underscore. */
export const manifestPath = (dataset: string): string => join(datasetFolder(dataset), '_manifest.json');

/** Returns the path of a file relative to the manifest of its dataset. */
export const pathInManifest = (dataset: string, path: string): string => path.slice(datasetFolder(dataset).length + 1);
