import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import {
  withLocalFiles,
  type SegmentStore,
  type StoredSegment,
} from '../../detection/logs/storage/store/segment-store.ts';
import type { ArchiveWriter } from './archive-writer.ts';
import { createLogTally, logEntry, type Checksums } from './manifest.ts';

type ListedFile = StoredSegment & { orgId: string };

/** A log file that the backup lists was erased before it was copied. */
export class ErasedMeanwhileError extends Error {}

/** Keeps the list of the log files of the current snapshot on the server until the connection ends. */
export async function declareLogList(client: pg.Client): Promise<void> {
  await client.query(`
    declare log_list cursor with hold for
    select organization_id as "orgId", path, bytes::float8 as bytes, sha256 from segments where replaced_at is null
    order by organization_id, id`);
}

type CopyLogsOptions = { segmentStore: SegmentStore; report: (text: string) => void };

/** Adds the files of `declareLogList` to a backup. */
export async function copyLogs(
  client: pg.Client,
  archive: ArchiveWriter,
  { segmentStore, report }: CopyLogsOptions,
): Promise<Checksums['logs']> {
  const tally = createLogTally();
  for (;;) {
    const { rows } = await client.query<ListedFile>('fetch 500 from log_list');
    if (rows.length === 0) return tally.end();
    for (const file of rows) {
      tally.start(logEntry(file.orgId, file.path));
      try {
        await withLocalFiles(segmentStore, file.orgId, [file], () => copyFile(archive, segmentStore, file, tally.add));
      } catch (error) {
        throw (await isListed(client, file)) ? explainFile(file, error) : new ErasedMeanwhileError();
      }
    }
    report(`${tally.count()} log files`);
  }
}

async function copyFile(
  archive: ArchiveWriter,
  { folderOf }: SegmentStore,
  { orgId, path, bytes }: ListedFile,
  observe: (chunk: Uint8Array) => void,
): Promise<void> {
  const local = join(folderOf(orgId), path);
  const { size } = await stat(local);
  if (size !== bytes) throw new Error(`it has ${size} bytes instead of ${bytes}`);
  await archive.add(logEntry(orgId, path), bytes, observed(createReadStream(local), observe));
}

async function* observed(chunks: AsyncIterable<Buffer>, observe: (chunk: Uint8Array) => void): AsyncIterable<Buffer> {
  for await (const chunk of chunks) {
    observe(chunk);
    yield chunk;
  }
}

async function isListed(client: pg.Client, { orgId, path }: ListedFile): Promise<boolean> {
  await client.query('begin; set local role tocsin_system');
  const { rowCount } = await client.query(
    'select 1 from segments where organization_id = $1 and path = $2 and replaced_at is null',
    [orgId, path],
  );
  await client.query('commit');
  return rowCount === 1;
}

const explainFile = ({ orgId, path }: ListedFile, error: unknown): Error =>
  new Error(
    `The log file ${orgId}/${path} cannot be copied: ${(error as Error).message}. To back up everything else, use --logs list.`,
    { cause: error },
  );
