import { fetchEntries, fetchList, type IndexCursor } from '../fetch-entries.ts';
import type { FetchSession, FetchSessionResult } from '../fetch-session.ts';
import type { SkippedEntry } from '../../model/source-record.ts';
import { parseIndexRow, createIndexScan, type OsvIndexRow } from './scan-index.ts';

/** Records whose time is remembered; what is older than all of them was read. */
const seenMax = 50_000;
/** More than the bounds of a pull let it read. */
const atOnceMax = 2_000;

/** `waiting`: rows of the last scan that are still to be read. `floor`: the place up to which every row was read, see `Row.at`. */
type Cursor = IndexCursor & { waiting?: string[]; floor?: string };

/**
 * Reads the records that an index `modified_id.csv` names, beside it or in the folders of their ecosystems: the oldest first, so that what
 * is newer than a place in time is all that is still to be read. The index is fetched again when what the last look at it left is read.
 */
export async function fetchOsv(context: FetchSession): Promise<FetchSessionResult> {
  const before = (context.cursor ?? {}) as Cursor;
  const { rows, left, skipped, lists } = before.waiting?.length ? goOn(before.waiting) : await scan(context, before);
  const entries = rows
    .slice(0, atOnceMax)
    .map(({ path, mark }) => ({ id: path, mark, url: new URL(addressOf(path), context.url).href }));
  const collection = await fetchEntries(context, {
    entries,
    lists,
    isPart: true,
    hasMore: left || rows.length > atOnceMax,
  });
  const { seen } = collection.cursor;
  const failed = new Set(collection.skipped.map(({ entry }) => entry));
  const waiting = rows.filter(({ path, mark }) => seen[path] !== mark && !failed.has(path));
  const cursor: Cursor = {
    ...collection.cursor,
    ...trim(seen, before.floor ?? ''),
    waiting: waiting.map(({ mark, path }) => `${mark},${path}`),
  };
  return { ...collection, cursor, skipped: [...skipped, ...collection.skipped] };
}

const addressOf = (path: string): string => `./${path.split('/').map(encodeURIComponent).join('/')}.json`;

type Open = {
  rows: OsvIndexRow[];
  left: boolean;
  skipped: SkippedEntry[];
  lists: Parameters<typeof fetchEntries>[1]['lists'];
};

const goOn = (waiting: string[]): Open => ({
  rows: waiting.map(parseIndexRow).filter((row) => row !== undefined),
  left: true,
  skipped: [],
  lists: {},
});

async function scan(context: FetchSession, { seen, floor = '' }: Cursor): Promise<Open> {
  const { onChunk: take, finish: end } = createIndexScan({ seen: new Map(Object.entries(seen ?? {})), floor });
  const found = await fetchList(context, context.url, { accept: 'text/csv, */*;q=0.1', onChunk: take });
  const lists = { [context.url]: found };
  if (!found) return { rows: [], left: false, skipped: [], lists };
  const { rows, left, cut } = end();
  const reason = 'the index is longer than is read of it: what stands at its end is missing';
  return { rows, left, lists, skipped: cut ? [{ entry: context.url.slice(0, 300), reason }] : [] };
}

/** Forgets the oldest of what is remembered, and that everything up to there was read. */
function trim(seen: Record<string, string>, floor: string): { seen: Record<string, string>; floor: string } {
  const known = Object.entries(seen);
  if (known.length <= seenMax) return { seen, floor };
  const placed = known
    .map(([path, mark]) => ({ path, mark, at: parseIndexRow(`${mark},${path}`)?.at ?? '' }))
    .toSorted((a, b) => (a.at < b.at ? -1 : 1));
  const newest = placed.splice(0, placed.length - seenMax).at(-1)!;
  return {
    seen: Object.fromEntries(placed.map(({ path, mark }) => [path, mark])),
    floor: newest.at > floor ? newest.at : floor,
  };
}
