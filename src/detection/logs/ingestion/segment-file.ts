import { mkdir, open, unlink, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export type WrittenFile = { path: string; rows: number; bytes: number; timeFromMs: number; timeToMs: number };

/** A text segment in the making: lines of id, time in microseconds and event, by tabs. */
export type SegmentWriter = {
  add: (id: string, timeMicros: number, text: string) => Promise<void>;
  /** Makes file and folder durable. Nothing of it may be called accepted before. */
  finish: () => Promise<WrittenFile>;
  discard: () => Promise<void>;
};

const bufferChars = 1024 * 1024;

/** `path` is relative to `folder`, the organization's own. The file is made with the first event. `fleeting`: it need not outlive a crash. */
export function createSegmentWriter(folder: string, path: string, { fleeting = false } = {}): SegmentWriter {
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
      if (!fleeting) await file?.sync();
      await file?.close();
      file = undefined;
      if (!fleeting) await syncFolder(dirname(full));
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

async function create(path: string): Promise<FileHandle> {
  const first = await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // A folder that is new is itself an entry of its parent, which has to last as well.
  if (first) for (let at = dirname(path); at.length >= dirname(first).length; at = dirname(at)) await syncFolder(at);
  return open(path, 'wx', 0o600);
}

/** Makes the entries of a folder durable. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  await folder.sync().finally(() => folder.close());
}

/** Makes a file that something else wrote durable, with its entry in its folder. Answers its size. */
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
