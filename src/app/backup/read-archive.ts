import { isDeepStrictEqual } from 'node:util';
import { pipeline } from 'node:stream/promises';
import { extract, type Entry } from 'tar-stream';
import { z } from 'zod';
import { uuidPattern } from '../../platform/lib/org-id.ts';
import {
  Checksums,
  checksumsEntry,
  createLogTally,
  createTally,
  Header,
  headerEntry,
  keyEntry,
  type RunningTally,
  type Table,
} from './manifest.ts';
import { type BackupLocation, decode } from './backup-location.ts';

type Chunks = AsyncIterable<Buffer>;

/** Receives the parts of a backup in order. Each must read all chunks that it is given. */
export type BackupReader = {
  header: (header: Header) => Promise<void>;
  key: (text: string) => Promise<void>;
  table: (table: Table, rows: Chunks) => Promise<void>;
  log: (orgId: string, path: string, bytes: Chunks) => Promise<void>;
};

/** Passes the parts of a backup to `reader`. Throws at the end if a checksum differs, and earlier if the archive is damaged or incomplete. */
export async function readArchive(archive: AsyncIterable<Uint8Array>, reader: BackupReader): Promise<Checksums> {
  const tar = extract();
  const piped = pipeline(archive, tar);
  piped.catch(() => undefined);
  const entries = tar[Symbol.asyncIterator]();
  try {
    const checksums = await readParts(entries, reader);
    await piped;
    return checksums;
  } catch (error) {
    tar.destroy();
    // The failure of the source, if there is one, is the cause.
    const cause = await piped.then(
      () => error,
      (failure: unknown) => (isStreamEnd(failure) ? error : failure),
    );
    throw cause;
  }
}

const isStreamEnd = (error: unknown): boolean =>
  ['ERR_STREAM_PREMATURE_CLOSE', 'ABORT_ERR', 'STREAM_DESTROYED'].includes(
    (error as NodeJS.ErrnoException).code ?? '',
  ) || (error as Error).message === 'Writable stream closed prematurely';

/** The entry that is read next, undefined at the end. */
type Cursor = { entry: Entry | undefined; advance: () => Promise<void> };

const nameOf = ({ entry }: Cursor): string | undefined => entry?.header.name;

function createCursor(entries: AsyncIterator<Entry>): Cursor {
  const cursor: Cursor = {
    entry: undefined,
    advance: async () => {
      const next = await entries.next();
      cursor.entry = next.done ? undefined : next.value;
    },
  };
  return cursor;
}

async function readParts(entries: AsyncIterator<Entry>, reader: BackupReader): Promise<Checksums> {
  const cursor = createCursor(entries);
  await cursor.advance();
  if (nameOf(cursor) !== headerEntry) throw new Error('The file is not a backup.');
  const header = parse(Header, await readText(cursor));
  await reader.header(header);
  if (nameOf(cursor) === keyEntry) await reader.key(await readText(cursor));
  const tables: Checksums['tables'] = {};
  for (const table of header.tables) {
    const tally = createTally();
    await reader.table(
      table,
      readContent(cursor, (name) => name.startsWith(`tables/${table.name}/`), tally),
    );
    tables[table.name] = tally.end();
  }
  const logs = createLogTally();
  for (let name = nameOf(cursor); name?.startsWith('logs/'); name = nameOf(cursor)) {
    const [orgId, path] = parseLogName(name);
    logs.start(name);
    await reader.log(
      orgId,
      path,
      readContent(cursor, (next) => next === name, logs),
    );
  }
  if (nameOf(cursor) !== checksumsEntry) throw new Error('The backup is incomplete.');
  const checksums = parse(Checksums, await readText(cursor));
  if (cursor.entry) throw new Error('The backup is damaged: it has parts after its end.');
  if (!isDeepStrictEqual(checksums, { tables, logs: logs.end() }))
    throw new Error('The backup is damaged: its checksums do not match.');
  return checksums;
}

/** Yields the content of the next entries that belong to a part, and counts it. */
async function* readContent(
  cursor: Cursor,
  isPart: (name: string) => boolean,
  tally: Pick<RunningTally, 'add'>,
): Chunks {
  while (cursor.entry && isPart(cursor.entry.header.name)) {
    for await (const chunk of cursor.entry as Chunks) {
      tally.add(chunk);
      yield chunk;
    }
    await cursor.advance();
  }
}

const textBytesMax = 1024 * 1024;

/** Returns the content of an entry that is read whole. */
async function readText(cursor: Cursor): Promise<string> {
  const entry = cursor.entry!;
  if ((entry.header.size ?? 0) > textBytesMax)
    throw new Error(`The backup is damaged: ${entry.header.name} is too long.`);
  const text = Buffer.concat(await Array.fromAsync(entry as Chunks)).toString('utf8');
  await cursor.advance();
  return text;
}

function parse<T>(schema: z.ZodType<T>, text: string): T {
  const parsed = schema.safeParse(JSON.parse(text));
  if (parsed.success) return parsed.data;
  throw new Error(`The backup cannot be read: ${z.prettifyError(parsed.error)}`);
}

/** Splits `logs/ORGANIZATION/PATH`, where the path has at least one folder. No name leads out of the folder of its organization. */
function parseLogName(name: string): [orgId: string, path: string] {
  const [, orgId = '', ...parts] = name.split('/');
  const isSafe = parts.every((part) => /^[^\\\0]+$/.test(part) && part !== '.' && part !== '..');
  if (!uuidPattern.test(orgId) || !isSafe || parts.length < 2)
    throw new Error(`The backup is damaged: ${name} is not the name of a log file.`);
  return [orgId, parts.join('/')];
}

/** Reads a whole backup. Throws if it is damaged or incomplete. */
export function verifyBackup(location: BackupLocation, passphrase: string | undefined): Promise<Checksums> {
  return readArchive(decode(location.read(), passphrase), {
    header: () => Promise.resolve(),
    key: () => Promise.resolve(),
    table: (_table, rows) => readAll(rows),
    log: (_orgId, _path, bytes) => readAll(bytes),
  });
}

async function readAll(chunks: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of chunks);
}
