import { sql } from 'kysely';
import { row, rows, type Tx } from '../../../platform/db/db.ts';
import { isThroughDuplicates, type ItemFilters } from '../item-filters.ts';
import { orderedRows, saidRows, withColumns } from './snapshot-rows.sql.ts';
import type { Mark } from './page-cursors.ts';
import { isNarrowedByOwn } from '../overrides/overrides.sql.ts';
import { rowsThroughDuplicates } from './through-duplicates.sql.ts';
import { totalOf } from './totals.sql.ts';
import type { View } from './snapshot.ts';

type Sql = ReturnType<typeof sql>;

/** `end` is the last row of the page. */
export type PageRows = { total: number; docs: { doc: string; nextExpiryAt: Date | null }[]; end: Mark | undefined };

export type PageRow = {
  total: number;
  id: string | null;
  added_to_feed_at: Date;
  doc: string;
  next_expiry_at: Date | null;
};

/**
 * One page of a view with its total. The total comes from the kept counts; no document is read before the page is known, and past the end
 * nothing is scanned. `after` is the row that stands at `offset`, where it is known: the scan then begins there. It begins at the end of the
 * list where that is nearer; from `farRows` rows on that is worth a statement to know.
 */
export async function readItemsPage(
  tx: Tx,
  view: View,
  given: { filters: ItemFilters; limit: number; offset: number; after?: Mark | undefined; farRows?: number },
): Promise<PageRows> {
  const { filters, limit, offset, after, farRows = 5_000 } = given;
  const passed = after ? 0 : offset;
  const oldestFirst = passed > farRows && passed > (await countItems(tx, view, filters)) / 2;
  const ofTotal = (rowsOf: Sql): Sql => sql`(select case when n > ${offset} then ${rowsOf} else 0 end from total)`;
  const scanned = sql`(select greatest(scanned, 0) from total)`;
  const page = oldestFirst
    ? sql`${orderedRows(view, filters, { limit: ofTotal(sql`n - ${offset}`), scanned, oldestFirst })} listed
        limit ${ofTotal(sql`least(n - ${offset}, ${limit})`)} offset ${ofTotal(sql`greatest(n - ${offset + limit}, 0)`)}`
    : sql`${orderedRows(view, filters, { limit: ofTotal(sql`${passed + limit}::bigint`), scanned, after })} listed limit ${limit} offset ${passed}`;
  const found = await rows(
    tx,
    sql<PageRow>`
      with ${withTotal(view, filters)}, page as (select * from ${page})
      select total.n as total, item.* from total left join (${withColumns(sql`page`, ['doc', 'next_expiry_at'])}) item on true
      order by item.added_to_feed_at desc, item.id desc`,
  );
  return toPageRows(found);
}

async function countItems(tx: Tx, view: View, filters: ItemFilters): Promise<number> {
  const found = await row(tx, sql<{ n: number }>`with ${withTotal(view, filters)} select n from total`);
  return found!.n;
}

/** The CTE `total`, and before it `said_rows` and `through_duplicates` where the list asks for them. */
const withTotal = (view: View, filters: ItemFilters): Sql => sql`
  ${filters.own !== undefined && isNarrowedByOwn(filters) ? sql`said_rows as materialized (${saidRows(view, filters.own)}),` : sql``}
  ${isThroughDuplicates(filters) ? sql`through_duplicates as materialized (${rowsThroughDuplicates(view, filters)}),` : sql``}
  total as materialized (${totalOf(view, filters)})`;

/** Rows of which each carries the total; where the page is empty one has nothing else. */
export function toPageRows(found: PageRow[]): PageRows {
  const page = found.filter(({ id }) => id !== null);
  const last = page.at(-1);
  return {
    total: found[0]?.total ?? 0,
    docs: page.map(({ doc, next_expiry_at }) => ({ doc, nextExpiryAt: next_expiry_at })),
    end: last && { at: last.added_to_feed_at, id: last.id! },
  };
}
