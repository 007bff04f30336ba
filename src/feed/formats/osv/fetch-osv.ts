import { fetchEntries, fetchList, type DocumentIndex, type IndexCursor } from '../fetch-entries.ts';
import type { FetchSession, FetchSessionResult } from '../fetch-session.ts';
import { type SkippedEntry, parseInstant } from '../../model/source-record.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';

/** The number of records whose time is remembered. Everything older has been read. */
const seenMax = 50_000;
/** More than the bounds of a pull allow. */
const rowsPerPull = 2_000;

/** `waiting` lists the unread rows of the last scan. Every row up to `floor` has been read, see `OsvIndexRow.position`. */
type OsvCursor = IndexCursor & { waiting?: string[]; floor?: string };

/**
 * Fetches the records of an index `modified_id.csv`, from its folder or from the folders of their ecosystems. The oldest come first, so that the
 * unread records are always the newest. The index is fetched again when all rows of the last scan have been read.
 */
export async function fetchOsv(session: FetchSession): Promise<FetchSessionResult> {
  const before = (session.cursor ?? {}) as OsvCursor;
  const { rows, hasMore, skipped, lists } = before.waiting?.length
    ? { rows: before.waiting.flatMap((line) => parseIndexRow(line) ?? []), hasMore: true, skipped: [], lists: {} }
    : await scanIndex(session, before);
  const entries = rows
    .slice(0, rowsPerPull)
    .map(({ path, version }) => ({ id: path, version, url: new URL(toAddress(path), session.url).href }));
  const result = await fetchEntries(session, {
    entries,
    lists,
    isPart: true,
    hasMore: hasMore || rows.length > rowsPerPull,
  });
  const { seen } = result.cursor;
  const failed = new Set(result.skipped.map(({ entry }) => entry));
  const waiting = rows.filter(({ path, version }) => seen[path] !== version && !failed.has(path));
  const cursor: OsvCursor = {
    ...result.cursor,
    ...forgetOldest(seen, before.floor ?? ''),
    waiting: waiting.map(({ version, path }) => `${version},${path}`),
  };
  return { ...result, cursor, skipped: [...skipped, ...result.skipped] };
}

const toAddress = (path: string): string => `./${path.split('/').map(encodeURIComponent).join('/')}.json`;

type ScanResult = { rows: OsvIndexRow[]; hasMore: boolean; skipped: SkippedEntry[]; lists: DocumentIndex['lists'] };

async function scanIndex(session: FetchSession, { seen, floor = '' }: OsvCursor): Promise<ScanResult> {
  const { onChunk, finish } = createIndexScan({ seen: new Map(Object.entries(seen ?? {})), floor });
  const fetched = await fetchList(session, session.url, { accept: 'text/csv, */*;q=0.1', onChunk });
  const lists = { [session.url]: fetched };
  if (!fetched) return { rows: [], hasMore: false, skipped: [], lists };
  const { rows, hasMore, isTruncated } = finish();
  const reason = 'the index exceeds the size limit, so the records at its end were not read';
  return { rows, hasMore, lists, skipped: isTruncated ? [{ entry: session.url.slice(0, 300), reason }] : [] };
}

/** Removes the oldest records from `seen` and raises `floor` accordingly. */
function forgetOldest(seen: Record<string, string>, floor: string): { seen: Record<string, string>; floor: string } {
  const known = Object.entries(seen);
  if (known.length <= seenMax) return { seen, floor };
  const rows = known
    .map(([path, version]) => ({ path, version, position: parseIndexRow(`${version},${path}`)?.position ?? '' }))
    .toSorted((a, b) => (a.position < b.position ? -1 : 1));
  const newest = rows.splice(0, rows.length - seenMax).at(-1)!;
  return {
    seen: Object.fromEntries(rows.map(({ path, version }) => [path, version])),
    floor: newest.position > floor ? newest.position : floor,
  };
}

export const osvIdPattern = /^[A-Za-z0-9][A-Za-z0-9._:+-]{2,199}$/;
/** The index of all ecosystems had about 40 MB in 2025. */
const bytesMax = 96 * 1024 * 1024;
const rowMaxChars = 2_000;
/** The number of unread rows that a scan keeps. */
const waitingMax = 50_000;
/** After this many rows in descending order, the index is known to list the newest rows first. */
const sortedRowsMin = 100;

/** A row of an index. `path` is the id, preceded by its ecosystem in the index of all ecosystems. `position` orders rows without ties. */
type OsvIndexRow = { path: string; version: string; position: string };

type IndexScan = {
  /** Processes a chunk of the index. Returns false if the rest contains no unread row. */
  onChunk: (chunk: Buffer) => boolean;
  /** Returns the unread rows, the oldest first. `hasMore` reports rows beyond the limit, `isTruncated` that the index exceeds the size limit. */
  finish: () => { rows: OsvIndexRow[]; hasMore: boolean; isTruncated: boolean };
};

/** Parses a row of `modified_id.csv`: `time,id`, or `time,ecosystem/id` in the index of all ecosystems. */
function parseIndexRow(line: string): OsvIndexRow | undefined {
  const [version = '', path = ''] = line.trim().split(',');
  const time = parseInstant(version);
  const id = path.slice(path.lastIndexOf('/') + 1);
  return time && osvIdPattern.test(id) ? { path, version, position: `${time} ${path}` } : undefined;
}

/**
 * Scans an index while it is downloaded for rows that are newer than `floor` and not in `seen` with their time. If the index lists the newest
 * rows first, as OSV's does, the download stops at `floor`.
 */
function createIndexScan({ seen, floor }: { seen: Map<string, string>; floor: string }): IndexScan {
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
