import { sql } from 'kysely';
import { rows, type Tx } from '../../../platform/db/db.ts';
import { appError } from '../../../platform/lib/errors.ts';
import type { ItemFilters } from '../item-filters.ts';
import { readAlongList } from './search-scan.ts';
import { all, both, byId, hasTerm, hasWords, isOneOf, type Condition } from '../snapshot/conditions.sql.ts';
import { columnConditions, isListed, withColumns } from '../snapshot/snapshot-rows.sql.ts';
import { toPageRows, type PageRow, type PageRows } from '../snapshot/page.store.ts';
import { ownConditions, saidAt, saidIds } from '../overrides/overrides.sql.ts';
import type { Search } from './search-query.ts';
import { isVisible } from '../items.store.ts';
import type { View } from '../snapshot/snapshot.ts';

type Sql = ReturnType<typeof sql>;

/** What is looked for. `only`: a query of the ids that the list is narrowed to. */
type Given = { filters: ItemFilters; search: Search; only?: Sql | undefined };

/**
 * One page of what a search finds in a view, with how many it finds. All that is found is gathered once, so its cost grows with what is
 * found and not with the feed; words that very many items have are only counted. 503 for one that takes longer than twenty seconds.
 */
export async function readFoundPage(
  tx: Tx,
  view: View,
  given: Given & { limit: number; offset: number },
): Promise<PageRows> {
  const { limit, offset } = given;
  await sql`select set_config('statement_timeout', ${String(searchMs)}, true), set_config('work_mem', '64MB', true), set_config('max_parallel_workers_per_gather', '0', true)`.execute(
    tx,
  );
  return withinTime(async () => {
    const words = wordsAlone(given);
    return (words && (await readAlongList(tx, view, { words, limit, offset }))) ?? gatherPage(tx, view, given);
  });
}

async function gatherPage(tx: Tx, view: View, given: Given & { limit: number; offset: number }): Promise<PageRows> {
  const { limit, offset } = given;
  const found = await rows(
    tx,
    sql<PageRow>`
      with ${foundIn(view, given)}, page as (
        select * from found order by added_to_feed_at desc, id desc limit ${limit} offset ${offset}
      )
      select total.n as total, item.* from (select count(*) as n from found) total
      left join (${withColumns(sql`page`, ['doc', 'next_expiry_at'])}) item on true
      order by item.added_to_feed_at desc, item.id desc`,
  );
  return toPageRows(found);
}

/** The words that are looked for, where nothing else is. */
function wordsAlone({ filters, search, only }: Given): Search['words'] {
  const { own: _said, ...columns } = filters;
  const { words, terms, rootTerms, updatedSince, rootsOnly } = search;
  const isMore =
    only ?? updatedSince ?? (rootsOnly || terms.length + rootTerms.length + Object.keys(columns).length > 0);
  return isMore ? undefined : words;
}

const searchMs = 20_000;
const tooSlow = '57014';

async function withinTime<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if ((error as { code?: string }).code !== tooSlow) throw error;
    throw appError('unavailable', 'The search took too long and was given up: narrow it.', {
      headers: { 'retry-after': '60' },
    });
  }
}

/** The CTE `found (id, added_to_feed_at, seq_from)`, and before it `matched` where duplicates may speak for their root. */
function foundIn(view: View, { filters, search, only }: Given): Sql {
  const { sources, ...columns } = filters;
  const { rootsOnly: _shown, ...anyRoot } = columns;
  const isOwn = (given: ItemFilters): Condition =>
    byId((id) => sql`${columnConditions(given)} ${ownConditions(given, id)}`);
  const conditions = [
    ...search.rootTerms.map((term) => hasTerm(view, term)),
    ...(only ? [isOneOf(only)] : []),
    ...(search.updatedSince ? [isUpdated(filters.own, search.updatedSince)] : []),
  ];
  const match = [
    ...(sources ? [both(columnConditions({ sources }))] : []),
    ...search.terms.map((term) => hasTerm(view, term)),
    ...(search.words ? [hasWords(view, search.words)] : []),
  ];
  if (!search.rootsOnly)
    return sql`found as materialized (${rowsOf(view, all([isOwn(anyRoot), ...conditions, ...match]))})`;
  const roots = isOwn({ ...columns, rootsOnly: true });
  if (match.length === 0) return sql`found as materialized (${rowsOf(view, all([roots, ...conditions]))})`;
  return sql`
    matched as materialized (${rootsOf(filters.own, rowsOf(view, all(match)))}),
    found as materialized (${rowsOf(view, all([roots, ...conditions, isOneOf(sql`select id from matched`)]))})`;
}

/** The roots of rows, as the organization sees them. */
const rootsOf = (own: number | undefined, found: Sql): Sql =>
  own === undefined
    ? sql`select coalesce(duplicate_of, id) as id from (${found}) rows`
    : sql`select coalesce(case when said.moved then said.duplicate_of else rows.duplicate_of end, rows.id) as id
        from (${found}) rows left join ${saidAt(own)} said on said.item_id = rows.id`;

/** What an organization says of an item changes when it says so. */
const isUpdated = (own: number | undefined, since: string): Condition =>
  own === undefined
    ? both(sql`and last_updated >= ${since}::timestamptz`)
    : byId(
        (id) =>
          sql`and (last_updated >= ${since}::timestamptz or ${id} in ${saidIds(own, sql`said.updated_at >= ${since}::timestamptz`)})`,
      );

function rowsOf(view: View, { now, past }: Condition): Sql {
  const listed = isListed(view);
  return sql`
    select i.id, i.duplicate_of, i.added_to_feed_at, null::bigint as seq_from from items i where ${listed.now} ${now}
    union all
    select s.item_id, s.duplicate_of, s.added_to_feed_at, s.seq_from from item_states s where ${listed.past} ${past}`;
}

export type FoundItem = {
  id: string;
  title: string;
  severity: string;
  status: string;
  publisher: string;
  publishTime: Date | null;
};

/** The newest items that the organization sees that have all of the words, with its own words on them. */
export function findByWords(tx: Tx, text: string, limit: number): Promise<FoundItem[]> {
  return rows(
    tx,
    sql<FoundItem>`
      select i.id, i.title, coalesce(said.severity, i.severity) as severity, coalesce(said.status, i.status) as status, i.publisher,
        i.publish_time as "publishTime"
      from items i left join feed_overrides said on said.organization_id = tocsin_org() and said.item_id = i.id
      where i.id = any((select tocsin_find_words(array(select id from feed_pools where ${isVisible}), websearch_to_tsquery('simple', ${text})))::uuid[])
        and i.pool_id in (select id from feed_pools where ${isVisible})
      order by i.added_to_feed_at desc, i.id desc limit ${limit}`,
  );
}
