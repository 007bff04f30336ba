import { sql } from 'kysely';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import type { PageCursor } from '../../platform/lib/page-request.ts';
import type { ItemFilters } from '../items/item-filters.ts';
import { filterCtes } from '../items/list-query/filter-ctes.sql.ts';
import { orderedRows } from '../items/list-query/ordered-rows.sql.ts';
import { withCtes, type Condition, type Cte, type Sql } from '../items/list-query/query.sql.ts';
import { withStateColumns } from '../items/list-query/snapshot-rows.sql.ts';
import { searchCtes } from '../items/search/search-ctes.sql.ts';
import type { Search } from '../items/search/search-query.ts';
import type { Snapshot } from '../items/snapshot/snapshot.ts';

const pageMaxChars = 64_000_000;

/** `listed` is the number of rows after the cursor, at most one more than the limit. */
export type ExportRow = { id: string; at: Date; doc: string; isMember: boolean; listed: number };

/** `isMember` is a condition on the id of an item. Without a `search`, the filters by columns apply alone. */
type ExportRange = {
  filters: ItemFilters;
  search: Search | undefined;
  limit: number;
  after: PageCursor | undefined;
  isMember: ((id: Sql) => Condition) | undefined;
};

/** Returns up to `limit` rows of a snapshot in the order of the list, as many as fit into 64,000,000 characters but at least one. */
export function listExportRows(tx: Tx, snapshot: Snapshot, range: ExportRange): Promise<ExportRow[]> {
  const { limit, isMember } = range;
  const { ctes, rows } = range.search
    ? searchedRows(snapshot, { ...range, search: range.search })
    : filteredRows(snapshot, range);
  const listed: Cte = { name: 'listed', query: rows, isMaterialized: true };
  return queryRows<ExportRow>(tx)`${withCtes(
    [...ctes, listed],
    sql`
      select * from (
        select page.id, page.added_to_feed_at as at, page.doc, ${isMember ? isMember(sql`listed.id`) : sql`true`} as "isMember",
          count(*) over () as listed, row_number() over newest as place, sum(length(page.doc)) over newest as chars
        from (${withStateColumns(sql`listed`, ['doc'])}) page join listed on listed.id = page.id
        window newest as (order by page.added_to_feed_at desc, page.id desc)
      ) placed where place = 1 or (place <= ${limit} and chars <= ${pageMaxChars}) order by place`,
  )}`;
}

type Rows = { ctes: Cte[]; rows: Sql };

const filteredRows = (snapshot: Snapshot, { filters, limit, after }: ExportRange): Rows => ({
  ctes: filterCtes(snapshot, filters),
  rows: orderedRows(snapshot, filters, { limit: sql`${limit + 1}`, after }),
});

function searchedRows(snapshot: Snapshot, { filters, search, limit, after }: ExportRange & { search: Search }): Rows {
  const isAfter = after ? sql`(added_to_feed_at, id) < (${after.at}::timestamptz, ${after.id}::uuid)` : sql`true`;
  return {
    ctes: searchCtes(snapshot, { filters, search }),
    rows: sql`select id, added_to_feed_at, seq_from from found where ${isAfter} order by added_to_feed_at desc, id desc limit ${limit + 1}`,
  };
}
