import { LRUCache } from 'lru-cache';
import { sql } from 'kysely';
import type { PageCursor } from '../../../platform/lib/page-request.ts';
import { queryRow, type Tx } from '../../../platform/db/db.ts';
import {
  type ItemFilters,
  matchesRow,
  overriddenRowsAsSeen,
  overriddenRowsCte,
  usesDuplicateRoots,
  usesOverriddenRows,
} from './filters.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { allOf, withCtes, type Condition, type Sql } from '../snapshot/query.sql.ts';

/** A row of a list, and how many rows the list has up to it. A scan for a page may begin there. */
export type PageStart = { row: PageCursor; rows: number };

/**
 * The ends of the pages that were read.
 *
 * `ends` are those of every page, by snapshot, filters and place: a client that reads page after page never makes the database scan the earlier
 * ones again.
 *
 * `anchors` are those of pages far from both ends of a list, by list. A page near one of them is read from there also after the feed or the
 * organization's overrides changed. Their `rows` are those of the list without overrides.
 */
export type PageStarts = {
  ends: LRUCache<string, PageCursor>;
  anchors: LRUCache<string, (PageStart & { snapshot: Snapshot })[]>;
};

/** The list of a page: its rows in a snapshot that match the filters. */
type ListedPage = { snapshot: Snapshot; filters: ItemFilters };

const [listsMax, anchorsMax, reachRows, changesMax, changedPoolsMax] = [200, 100, 10_000, 5_000, 8];

/** Shorter than the previous states of items are kept, because they correct the number of rows. */
const validMs = 2 * 3_600_000;

/** The ends are bounded by memory, because the filters of a request may be thousands of characters long. */
export const createPageStarts = (endsMaxBytes = 8 * 1024 * 1024): PageStarts => ({
  ends: new LRUCache({ maxSize: endsMaxBytes, sizeCalculation: (_end, key) => 2 * key.length + 200 }),
  anchors: new LRUCache({ max: listsMax, ttl: validMs }),
});

/** Finds the end of the page before an offset, or, for a far one, an anchor near it. */
export async function findPageStart(
  tx: Tx,
  { ends, anchors }: PageStarts,
  list: ListedPage,
  { offset, isFar }: { offset: number; isFar: boolean },
): Promise<PageStart | undefined> {
  const row = ends.get(toEndKey(list, offset));
  if (row) return { row, rows: offset };
  return isFar ? findAnchor(tx, anchors, { ...list, offset }) : undefined;
}

/** Remembers the end of a page. */
export async function addPageEnd(
  tx: Tx,
  { ends, anchors }: PageStarts,
  list: ListedPage,
  { isFar, ...end }: PageStart & { isFar: boolean },
): Promise<void> {
  ends.set(toEndKey(list, end.rows), end.row);
  if (isFar) await addAnchor(tx, anchors, list, end);
}

const toEndKey = ({ snapshot, filters }: ListedPage, rows: number): string =>
  JSON.stringify([snapshot.tag, filters, rows]);

/** Returns the key of a list, or undefined if it has roots that only a duplicate connects to it. */
function toListKey({ poolIds }: Snapshot, filters: ItemFilters): string | undefined {
  if (usesDuplicateRoots(filters)) return undefined;
  const { severity, status, platform, sources, rootsOnly = false } = filters;
  return JSON.stringify([poolIds, severity, status, platform, sources, rootsOnly]);
}

async function addAnchor(
  tx: Tx,
  anchors: PageStarts['anchors'],
  { snapshot, filters }: ListedPage,
  { row, rows: ownRows }: PageStart,
): Promise<void> {
  const key = toListKey(snapshot, filters);
  if (key === undefined) return;
  const anchor = { row, rows: ownRows - (await countAddedByOverrides(tx, snapshot, { filters, row })) };
  const others = (anchors.peek(key) ?? []).filter(({ rows }) => Math.abs(rows - anchor.rows) > reachRows / 10);
  // The whole list expires with its oldest anchor.
  const ttl = others.length > 0 ? anchors.getRemainingTTL(key) : validMs;
  anchors.set(key, [...others.slice(1 - anchorsMax), { ...anchor, snapshot }], { ttl });
}

/** Finds the anchor nearest to an offset, with its number of rows in this snapshot. */
async function findAnchor(
  tx: Tx,
  anchors: PageStarts['anchors'],
  { snapshot, filters, offset }: ListedPage & { offset: number },
): Promise<PageStart | undefined> {
  const key = toListKey(snapshot, filters);
  const known = key === undefined ? [] : (anchors.get(key) ?? []);
  const distance = ({ rows }: PageStart): number => Math.abs(rows - offset);
  const near = known
    .filter(
      (one) => distance(one) <= reachRows && one.snapshot.seqs.every((seq, index) => seq <= snapshot.seqs[index]!),
    )
    .toSorted((a, b) => distance(a) - distance(b))[0];
  if (!near) return undefined;
  const { row } = near;
  const changes = await countChanges(tx, snapshot, { filters, ...near });
  if (changes === undefined) return undefined;
  return { row, rows: near.rows + changes + (await countAddedByOverrides(tx, snapshot, { filters, row })) };
}

const isUpTo = ({ at, id }: PageCursor): Condition =>
  sql`(added_to_feed_at, id) >= (${at.toISOString()}::timestamptz, ${id}::uuid)`;

/** Returns how many more rows a list has up to a row with the organization's overrides than without them. */
async function countAddedByOverrides(
  tx: Tx,
  snapshot: Snapshot,
  { filters, row }: { filters: ItemFilters; row: PageCursor },
): Promise<number> {
  const { overridesSeq } = filters;
  if (overridesSeq === undefined || !usesOverriddenRows(filters)) return 0;
  const isCounted = allOf([matchesRow(filters), isUpTo(row)]);
  const query = withCtes(
    [overriddenRowsCte(snapshot, overridesSeq)],
    sql`
      select (select count(*) from ${overriddenRowsAsSeen} where ${isCounted}) - (select count(*) from overridden_rows where ${isCounted}) as added`,
  );
  return (await queryRow<{ added: number }>(tx)`${query}`)!.added;
}

/**
 * Returns by how many rows the list without overrides grew up to an anchor since the anchor's snapshot, or undefined if very many items or
 * pools changed. A changed item left the list in its previous state and entered it in its present one.
 */
async function countChanges(
  tx: Tx,
  snapshot: Snapshot,
  { filters, row, snapshot: before }: { filters: ItemFilters; row: PageCursor; snapshot: Snapshot },
): Promise<number | undefined> {
  const changedPools = snapshot.poolIds.flatMap((pool, index) => {
    const [from, seq] = [before.seqs[index]!, snapshot.seqs[index]!];
    return from === seq ? [] : [{ pool: sql`${pool}::uuid`, from: sql`${from}::bigint`, seq: sql`${seq}::bigint` }];
  });
  if (changedPools.length === 0) return 0;
  if (changedPools.length > changedPoolsMax) return undefined;
  const changes = changedPools.flatMap(({ pool, from, seq }): Sql[] => {
    const columns = sql`added_to_feed_at, severity, status, platforms, publisher, source_name, duplicate_of`;
    const state = (sign: 1 | -1, isState: Sql): Sql => sql`
      (select ${sql.lit(sign)} as sign, item_id as id, ${columns} from item_states s
        where s.pool_id = ${pool} and ${isState} limit ${changesMax})`;
    return [
      sql`(select 1 as sign, id, ${columns} from items i
        where i.pool_id = ${pool} and i.seq > ${from} and i.seq <= ${seq} order by i.seq, i.id limit ${changesMax})`,
      state(1, sql`s.seq_from > ${from} and s.seq_from <= ${seq} and s.seq_until > ${seq}`),
      state(-1, sql`s.seq_from <= ${from} and s.seq_until > ${from} and s.seq_until <= ${seq}`),
    ];
  });
  const isCounted = allOf([matchesRow(filters), isUpTo(row)]);
  const found = await queryRow<{ changed: number; grown: number }>(tx)`
    select count(*) as changed, coalesce(sum(sign) filter (where ${isCounted}), 0) as grown
    from (${sql.join(changes, sql` union all `)}) changes`;
  return found!.changed >= changesMax ? undefined : found!.grown;
}
