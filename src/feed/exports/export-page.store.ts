import { sql } from 'kysely';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import type { PageCursor } from '../../platform/lib/page-request.ts';
import { orderedRows } from '../items/list-query/ordered-rows.sql.ts';
import type { Condition, Sql } from '../items/list-query/query.sql.ts';
import { withStateColumns } from '../items/list-query/snapshot-rows.sql.ts';
import type { Snapshot } from '../items/snapshot/snapshot.ts';

const pageMaxChars = 64_000_000;

/** `listed` is the number of rows after the cursor, at most one more than the limit. */
export type ExportRow = { id: string; at: Date; doc: string; isMember: boolean; listed: number };

/** `isMember` is a condition on the id of an item. */
type ExportRange = { limit: number; after: PageCursor | undefined; isMember: ((id: Sql) => Condition) | undefined };

/** Returns up to `limit` rows of a snapshot in the order of the list, as many as fit into 64,000,000 characters but at least one. */
export function listExportRows(
  tx: Tx,
  snapshot: Snapshot,
  { limit, after, isMember }: ExportRange,
): Promise<ExportRow[]> {
  return queryRows<ExportRow>(tx)`
      with listed as (${orderedRows(snapshot, {}, { limit: sql`${limit + 1}`, after })})
      select * from (
        select page.id, page.added_to_feed_at as at, page.doc, ${isMember ? isMember(sql`listed.id`) : sql`true`} as "isMember",
          count(*) over () as listed, row_number() over newest as place, sum(length(page.doc)) over newest as chars
        from (${withStateColumns(sql`listed`, ['doc'])}) page join listed on listed.id = page.id
        window newest as (order by page.added_to_feed_at desc, page.id desc)
      ) placed where place = 1 or (place <= ${limit} and chars <= ${pageMaxChars}) order by place`;
}
