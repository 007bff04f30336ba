import { parseInstant } from '../../model/source-record.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';

export const osvIdPattern = /^[A-Za-z0-9][A-Za-z0-9._:+-]{2,199}$/;
/** The index of all ecosystems had about 40 MB in 2025. */
const bytesMax = 96 * 1024 * 1024;
const rowMaxChars = 2_000;
/** The number of unread rows that a scan keeps. */
const waitingMax = 50_000;
/** After this many rows in descending order, the index is known to list the newest rows first. */
const sortedRowsMin = 100;

/** A row of an index. `path` is the id, preceded by its ecosystem in the index of all ecosystems. `position` orders rows without ties. */
export type OsvIndexRow = { path: string; version: string; position: string };

type IndexScan = {
  /** Processes a chunk of the index. Returns false if the rest contains no unread row. */
  onChunk: (chunk: Buffer) => boolean;
  /** Returns the unread rows, the oldest first. `hasMore` reports rows beyond the limit, `isTruncated` that the index exceeds the size limit. */
  finish: () => { rows: OsvIndexRow[]; hasMore: boolean; isTruncated: boolean };
};

/** Parses a row of `modified_id.csv`: `time,id`, or `time,ecosystem/id` in the index of all ecosystems. */
export function parseIndexRow(line: string): OsvIndexRow | undefined {
  const [version = '', path = ''] = line.trim().split(',');
  const time = parseInstant(version);
  const id = path.slice(path.lastIndexOf('/') + 1);
  return time && osvIdPattern.test(id) ? { path, version, position: `${time} ${path}` } : undefined;
}

/**
 * Scans an index while it is downloaded for rows that are newer than `floor` and not in `seen` with their time. If the index lists the newest
 * rows first, as OSV's does, the download stops at `floor`.
 */
export function createIndexScan({ seen, floor }: { seen: Map<string, string>; floor: string }): IndexScan {
  const decoder = new TextDecoder();
  let rows: OsvIndexRow[] = [];
  let [partialLine, previousTime] = ['', '9'];
  let [size, count] = [0, 0];
  let [hasMore, isTruncated, isFinished, isSorted] = [false, false, false, true];
  const keepOldest = (): void => {
    rows.sort((a, b) => (a.position < b.position ? -1 : 1));
    hasMore ||= rows.length > waitingMax;
    rows = rows.slice(0, waitingMax);
  };
  /** Returns false if no later row can be unread. */
  const scanLine = (line: string): boolean => {
    const row = parseIndexRow(line);
    if (!row) return true;
    const time = row.position.slice(0, 24);
    isSorted &&= time <= previousTime;
    previousTime = time;
    count += 1;
    if (row.position <= floor) return !isSorted || count <= sortedRowsMin || time >= floor.slice(0, 24);
    if (seen.get(row.path) !== row.version) rows.push(row);
    if (rows.length >= 2 * waitingMax) keepOldest();
    return true;
  };
  return {
    onChunk(chunk) {
      size += chunk.length;
      const lines = (partialLine + decoder.decode(chunk, { stream: true })).split('\n');
      partialLine = lines.pop()!;
      const mayContinue = lines.every(scanLine);
      isTruncated = mayContinue && (size >= bytesMax || partialLine.length > rowMaxChars);
      isFinished = isTruncated || !mayContinue;
      return !isFinished;
    },
    finish() {
      if (!isFinished) scanLine(partialLine);
      if (count === 0) throw new ExternalError('the index has no row with a time and an id');
      keepOldest();
      return { rows, hasMore, isTruncated };
    },
  };
}
