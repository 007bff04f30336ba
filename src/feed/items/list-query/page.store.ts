import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import {
  filterCtes,
  type ItemFilters,
  matchesRow,
  overriddenRowsAsSeen,
  usesDuplicateRoots,
  usesOverriddenRows,
} from './filters.sql.ts';
import { addPageEnd, findPageStart, type PageStart, type PageStarts } from './page-starts.ts';
import { orderedRows } from './ordered-rows.sql.ts';
import type { PageCursor } from '../../../platform/lib/page-request.ts';
import { withCtes, type Cte, type Sql, materialized } from '../snapshot/query.sql.ts';
import { withStateColumns, changedRows, poolTable, wasCurrent } from '../snapshot/snapshot-rows.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/** `end` is the last row of the page. */
export type ItemsPage = {
  total: number;
  docs: { doc: string; nextExpiryAt: Date | null }[];
  end: PageCursor | undefined;
};

export type PageRange = { limit: number; offset: number };

/**
 * With `starts`, the scan may begin at the end of another page, and the end of this one is remembered. Offsets above `farOffset` may also be read
 * from the end of the list.
 */
type PageWindow = PageRange & { farOffset?: number; starts?: PageStarts };

/**
 * Returns one page of a snapshot with its total. The total comes from `feed_counts`. Documents are read for the rows of the page only, and
 * nothing is scanned past the end. The scan begins at the end of another page, or at whichever end of the list is nearer. Above `farOffset`, one
 * more statement to learn the total is worth its cost.
 */
export async function readItemsPage(
  tx: Tx,
  snapshot: Snapshot,
  { filters, ...window }: { filters: ItemFilters } & PageWindow,
): Promise<ItemsPage> {
  const { offset, farOffset = 5_000, starts } = window;
  const isFar = offset > farOffset;
  const list = { snapshot, filters };
  const start = starts && (await findPageStart(tx, starts, list, { offset, isFar }));
  const scanNearestEnd = async (): Promise<Sql> =>
    isFar && offset > (await countItems(tx, snapshot, filters)) / 2
      ? scanFromEnd(snapshot, filters, window)
      : scanFromStart(snapshot, filters, window);
  const scan = (start && scanFrom(snapshot, filters, { ...window, start })) ?? (await scanNearestEnd());
  const page = await readPageRows(tx, { ctes: listCtes(snapshot, filters), page: scan, total: sql`total` });
  if (starts && page.end) await addPageEnd(tx, starts, list, { row: page.end, rows: offset + page.docs.length, isFar });
  return page;
}

type PageRow = { id: string; added_to_feed_at: Date; doc: string; next_expiry_at: Date | null };
type EmptyPage = { [Column in keyof PageRow]: null };

/**
 * Reads the documents of `page`, a query of listed rows. `total` is a table with the number of all listed items as `n`. With `isRanked`, the
 * rows have a `score`, and the highest comes first.
 */
export async function readPageRows(
  tx: Tx,
  { ctes, page, total, isRanked = false }: { ctes: Cte[]; page: Sql; total: Sql; isRanked?: boolean },
): Promise<ItemsPage> {
  const score = isRanked ? sql`(select score from page where page.id = item.id) desc nulls last,` : sql``;
  const query = sql`select total.n as total, item.* from ${total}
    left join (${withStateColumns(sql`page`, ['doc', 'next_expiry_at'])}) item on true
    order by ${score} item.added_to_feed_at desc, item.id desc`;
  const pageCte: Cte = { name: 'page', query: page, isMaterialized: false };
  const found = await queryRows<{ total: number } & (PageRow | EmptyPage)>(tx)`${withCtes([...ctes, pageCte], query)}`;
  // Every row carries the total. An empty page has a single row with nothing else.
  const rows = found.filter((row) => row.id !== null);
  const last = rows.at(-1);
  return {
    total: found[0]?.total ?? 0,
    docs: rows.map(({ doc, next_expiry_at }) => ({ doc, nextExpiryAt: next_expiry_at })),
    end: last && { at: last.added_to_feed_at, id: last.id },
  };
}

function scanFromStart(snapshot: Snapshot, filters: ItemFilters, { limit, offset }: PageRange): Sql {
  const scanLimit = zeroPastEnd(offset, sql`${offset + limit}::bigint`);
  return sql`
    select * from ${orderedRows(snapshot, filters, { limit: scanLimit, poolRows })} listed limit ${limit} offset ${offset}`;
}

function scanFromEnd(snapshot: Snapshot, filters: ItemFilters, { limit, offset }: PageRange): Sql {
  const scanLimit = zeroPastEnd(offset, sql`n - ${offset}`);
  return sql`
    select * from ${orderedRows(snapshot, filters, { limit: scanLimit, poolRows, oldestFirst: true })} listed
    limit ${zeroPastEnd(offset, sql`least(n - ${offset}, ${limit})`)}
    offset ${zeroPastEnd(offset, sql`greatest(n - ${offset + limit}, 0)`)}`;
}

/** Undefined if the page begins before the start and ends after it. */
function scanFrom(
  snapshot: Snapshot,
  filters: ItemFilters,
  { limit, offset, start: { row, rows } }: PageRange & { start: PageStart },
): Sql | undefined {
  if (offset >= rows) {
    const scanLimit = zeroPastEnd(offset, sql`${offset - rows + limit}::bigint`);
    return sql`
      select * from ${orderedRows(snapshot, filters, { limit: scanLimit, poolRows, after: row })} listed
      limit ${limit} offset ${offset - rows}`;
  }
  if (offset + limit > rows) return undefined;
  const scanLimit = sql`${rows - offset}::bigint`;
  return sql`
    select * from ${orderedRows(snapshot, filters, { limit: scanLimit, poolRows, until: row, oldestFirst: true })} listed
    limit ${limit} offset ${rows - offset - limit}`;
}

const poolRows = sql`(select greatest(pool_rows, 0) from total)`;

/** A number that may refer to the total `n`, or 0 where the page begins past the end. */
const zeroPastEnd = (offset: number, value: Sql): Sql =>
  sql`(select case when n > ${offset} then ${value} else 0 end from total)`;

async function countItems(tx: Tx, snapshot: Snapshot, filters: ItemFilters): Promise<number> {
  const query = withCtes(listCtes(snapshot, filters), sql`select n from total`);
  return (await queryRow<{ n: number }>(tx)`${query}`)!.n;
}

const listCtes = (snapshot: Snapshot, filters: ItemFilters): Cte[] => [
  ...filterCtes(snapshot, filters),
  totalCte(snapshot, filters),
];

/**
 * The CTE `total (n, pool_rows)`: the number of listed items, and the number of those that the branches of the pools return. Both come from
 * the counts in `feed_counts`, corrected to the snapshot by the few rows that changed since. The difference is the overridden rows and the
 * roots found through a duplicate.
 */
function totalCte(snapshot: Snapshot, filters: ItemFilters): Cte {
  const { rootsOnly = false, ...countFilters } = filters;
  const countRows = (table: Sql): Sql => sql`(select count(*) from ${table} where ${matchesRow(filters)})`;
  const previousRows = sql`${poolTable(snapshot)} join item_states s on ${wasCurrent}`;
  const counted = sql`(
    select coalesce(sum(${rootsOnly ? sql`roots` : sql`n`}), 0) from feed_counts
    where pool_id = any(${snapshot.poolIds}::uuid[]) and ${matchesRow(countFilters, sql`string_to_array(platforms, ',')`)})`;
  const subtracted = [countRows(changedRows(snapshot))];
  const beyondPools: Sql[] = [];
  if (usesOverriddenRows(filters)) {
    subtracted.push(countRows(sql`overridden_rows`));
    beyondPools.push(countRows(overriddenRowsAsSeen));
  }
  if (usesDuplicateRoots(filters)) beyondPools.push(sql`(select count(*) from duplicate_roots)`);
  const poolRows = sql`(${counted} + ${countRows(previousRows)} - ${sql.join(subtracted, sql` - `)})::bigint`;
  // `offset 0` keeps the planner from computing `pool_rows` once for each column.
  return materialized(
    'total',
    sql`
      select pool_rows, ${sql.join([sql`pool_rows`, ...beyondPools], sql` + `)} as n
      from (select ${poolRows} as pool_rows offset 0) counts`,
  );
}
