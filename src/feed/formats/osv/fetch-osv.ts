import { fetchEntries, fetchList, type DocumentIndex, type IndexCursor } from '../fetch-entries.ts';
import type { FetchSession, FetchSessionResult } from '../fetch-session.ts';
import type { SkippedEntry } from '../../model/source-record.ts';
import { createIndexScan, parseIndexRow, type OsvIndexRow } from './scan-index.ts';

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
