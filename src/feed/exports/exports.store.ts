import { sql } from 'kysely';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import type { PageCursor } from '../../platform/lib/page-request.ts';
import { filterCtes, type ItemFilters } from '../items/list-query/filters.sql.ts';
import { orderedRows } from '../items/list-query/ordered-rows.sql.ts';
import { withCtes, type Condition, type Cte, type Sql, visiblePoolIds } from '../items/snapshot/query.sql.ts';
import { withStateColumns } from '../items/snapshot/snapshot-rows.sql.ts';
import { searchCtes } from '../items/search/search-query.sql.ts';
import type { Search } from '../items/search-terms/search-query.ts';
import type { Snapshot } from '../items/snapshot/snapshot.ts';
import { mapInSlices } from '../../platform/lib/concurrency/slices.ts';
import { toAppliedOverride, type AppliedOverrideRow } from '../items/snapshot/override-rows.store.ts';
import type { FeedItem } from '../model/item.schema.ts';
import type { DatedOverride } from '../items/snapshot/apply-overrides.ts';
import type { ItemVersion } from './stix/stix-item.ts';
import { textMaxChars } from './relationships/find-relationships.ts';
import type { StixObject } from './stix/stix-object.ts';
import type { Term } from '../model/terms.ts';

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
      select id, at, doc, "isMember", listed from (
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

export type VersionKey = { id: string; version: number };
type VersionRow = VersionKey & {
  doc: string;
  objects: string | null;
  text: string | null;
  wasChangedByPerson: boolean;
};

/**
 * Returns versions of items, by `id version`. Versions that the organization does not see, or whose content was erased, are absent. The
 * organization's overrides apply to every version.
 */
export async function readItemVersions(tx: Tx, keys: VersionKey[]): Promise<Map<string, ItemVersion>> {
  if (keys.length === 0) return new Map();
  const found = await queryRows<VersionRow>(tx)`
      select v.item_id as id, v.version, coalesce(v.doc, i.doc) as doc, left(v.stored_text, ${textMaxChars}) as text, (
          select e.objects from item_versions e where e.item_id = v.item_id and e.version <= v.version and e.objects is not null
          order by e.version desc limit 1) as objects,
        exists (select from item_versions e where e.item_id = v.item_id and e.version <= v.version and e.cause = 'person') as "wasChangedByPerson"
      from unnest(${keys.map(({ id }) => id)}::uuid[], ${keys.map(({ version }) => version)}::int[]) as k (id, version)
      join item_versions v on v.item_id = k.id and v.version = k.version join items i on i.id = v.item_id
      where v.doc is distinct from '' and v.pool_id in ${visiblePoolIds}`;
  const ids = found.map(({ id }) => id);
  const overrides = await listOverrideHistory(tx, ids);
  const versions = await mapInSlices(found, (row) => toItemVersion(row, overrides.get(row.id) ?? []));
  return new Map(versions.map((version, index) => [`${found[index]!.id} ${found[index]!.version}`, version]));
}

const toItemVersion = (
  { doc, objects, text, wasChangedByPerson }: VersionRow,
  overrides: DatedOverride[],
): ItemVersion => ({
  item: JSON.parse(doc) as FeedItem,
  originals: objects === null ? null : (JSON.parse(objects) as StixObject[]),
  overrides,
  storedText: text,
  wasChangedByPerson,
});

/** Returns every override that the organization ever set for these items, by item id, oldest first. The last one is in force. */
export async function listOverrideHistory(tx: Tx, itemIds: string[]): Promise<Map<string, DatedOverride[]>> {
  const found = await queryRows<AppliedOverrideRow & { item_id: string; at: Date }>(tx)`
      select item_id, at, severity, status, indicators from feed_marks
      where organization_id = tocsin_org() and item_id = any(${itemIds}::uuid[]) order by at`;
  const rowsByItem = Map.groupBy(found, ({ item_id }) => item_id);
  return new Map(
    [...rowsByItem].map(([id, rows]) => [id, rows.map((row) => ({ at: row.at, ...toAppliedOverride(row) }))]),
  );
}

/** How many items with one value are read, and how many items in all. */
const itemsPerTerm = 100;
const itemsMax = 200;

/** Returns live items that came as STIX and have any of the terms, those with the most of them first. */
export function listItemsWithTerms(
  tx: Tx,
  terms: Pick<Term, 'kind' | 'value'>[],
  isMember: ((itemId: Sql) => Condition) | undefined,
): Promise<VersionKey[]> {
  return queryRows<VersionKey>(tx)`
    select found.id, found.version
    from unnest(${terms.map(({ kind }) => kind)}::text[], ${terms.map(({ value }) => value)}::text[]) as n (kind, value)
    cross join lateral (
      select i.id, i.version from item_terms t join items i on i.id = t.item_id
      where t.kind = n.kind and t.value = n.value and t.pool_id = any(array(${visiblePoolIds})) and i.status <> 'retracted'
        and exists (select from item_versions v where v.item_id = i.id and v.objects is not null)
        and ${isMember ? isMember(sql`i.id`) : sql`true`}
      limit ${itemsPerTerm}
    ) found
    group by found.id, found.version order by count(*) desc, found.id limit ${itemsMax}`;
}
