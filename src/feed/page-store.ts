import { sql } from 'kysely';
import { rows, type Tx } from '../db/db.ts';
import type { ItemFilters } from './filters.ts';
import { orderedRows, withColumns } from './listed.ts';
import type { Mark } from './marks.ts';
import { totalOf } from './totals.ts';
import type { View } from './view.ts';

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
 * nothing is scanned. `after` is the row that stands at `offset`, where it is known: the scan then begins there.
 */
export async function readItemsPage(
  tx: Tx,
  view: View,
  given: { filters: ItemFilters; limit: number; offset: number; after?: Mark | undefined },
): Promise<PageRows> {
  const { filters, limit, offset, after } = given;
  const passed = after ? 0 : offset;
  const bound = sql`(select case when n > ${offset} then ${passed + limit}::bigint else 0 end from total)`;
  const found = await rows(
    tx,
    sql<PageRow>`
      with total as materialized (select ${totalOf(view, filters)} as n),
      page as (select * from ${orderedRows(view, filters, { limit: bound, after })} listed limit ${limit} offset ${passed})
      select total.n as total, item.* from total left join (${withColumns(sql`page`, ['doc', 'next_expiry_at'])}) item on true
      order by item.added_to_feed_at desc, item.id desc`,
  );
  return toPageRows(found);
}

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
