import { sql } from 'kysely';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import { allOf, visiblePoolIds, withCtes, type Condition, type Sql } from '../items/snapshot/query.sql.ts';
import type { Snapshot } from '../items/snapshot/snapshot.ts';
import { hadFullText, itemMatchesText, searchCtes, type SearchOptions } from '../items/search/search-query.sql.ts';

/** An item as the organization sees it, with the traits by which stories are joined. `names` are CVEs, actors and malware, each behind its kind. */
export type StoryReportRow = {
  id: string;
  group_id: string;
  title: string;
  publisher: string;
  severity: string;
  /** Whether a person decided the severity, or a structured record or a passage states it. */
  is_founded: boolean;
  publish_time: Date | null;
  added_to_feed_at: Date;
  is_list: boolean;
  names: string[];
};

/** An item without running text and with more values is a list. */
const listedMin = 20;

const itemsWithOverride = sql`items i left join feed_overrides o on o.organization_id = tocsin_org() and o.item_id = i.id`;

/** Returns items that the organization sees and that are not retracted for it. */
export function listStoryReports(tx: Tx, ids: string[]): Promise<StoryReportRow[]> {
  return queryRows<StoryReportRow>(tx)`
    select i.id, coalesce(case when o.moved then o.duplicate_of else i.duplicate_of end, i.id) as group_id, i.title, i.publisher,
      coalesce(o.severity, i.severity) as severity, o.severity is not null or i.severity_rule !~ '^(none|report:[^ ]*|model:[^ ]*)$' as is_founded,
      i.publish_time, i.added_to_feed_at, i.sketch is null and i.identifying > ${listedMin} as is_list,
      array(select t.kind || ' ' || t.value from item_terms t
        where t.item_id = i.id and t.kind in ('cve', 'actor', 'malware') and t.entity is not null) as names
    from ${itemsWithOverride}
    where i.id = any(${ids}::uuid[]) and i.pool_id in ${visiblePoolIds} and coalesce(o.status, i.status) <> 'retracted' and i.status <> 'retracted'`;
}

/** Returns the items of the groups of duplicates with these roots, as shared or as the organization sees them. */
export async function listGroupMembers(tx: Tx, rootIds: string[]): Promise<string[]> {
  const found = await queryRows<{ id: string }>(tx)`
    select id from items where id = any(${rootIds}::uuid[])
    union select id from items where duplicate_of = any(${rootIds}::uuid[])
    union select item_id from feed_overrides where organization_id = tocsin_org() and duplicate_of = any(${rootIds}::uuid[])`;
  return found.map(({ id }) => id);
}

/** A value or name with the items that have it. `printed` is a name as it is shown. */
export type HeldTermRow = {
  kind: 'indicator' | 'cve' | 'actor' | 'malware';
  value: string;
  printed: string;
  is_address: boolean;
  holders: string[];
};

/** A value that more items have is not compared. */
const holdersMax = 100;

/** Returns the values and names of the items that others have as well. */
export function listHeldTerms(tx: Tx, ids: string[]): Promise<HeldTermRow[]> {
  const isCompared = sql`(t.identifying or (t.kind in ('cve', 'actor', 'malware') and t.entity is not null)) and t.standing is null`;
  return queryRows<HeldTermRow>(tx)`
    with mine as materialized (
      select t.kind, t.value, max(coalesce(t.entity, t.value)) as printed, bool_or(t.address is not null) as is_address
      from item_terms t where t.item_id = any(${ids}::uuid[]) and ${isCompared} group by t.kind, t.value
    ), held as materialized (
      select mine.*, array(select t.item_id from item_terms t where t.kind = mine.kind and t.value = mine.value
        and t.pool_id = any(array(${visiblePoolIds})) and ${isCompared} limit ${holdersMax + 1})::text[] as holders from mine
    )
    select kind, value, printed, is_address, holders from held where cardinality(holders) between 2 and ${holdersMax}`;
}

/** `isMember` is a further condition on the id of an item. */
export type MemberSearch = Omit<SearchOptions, 'onlyIds'> & { isMember: ((id: Sql) => Condition) | undefined };

/** Returns those of the items that match a search and are members. */
export async function listMatchingIds(
  tx: Tx,
  snapshot: Snapshot,
  { ids, isMember, ...options }: MemberSearch & { ids: string[] },
): Promise<string[]> {
  const onlyIds = {
    ids: sql`select unnest(${ids}::uuid[])`,
    contains: (id: Sql) => allOf([sql`${id} = any(${ids}::uuid[])`, isMember?.(id)]),
  };
  const { fullText } = options.search;
  const text = fullText && { current: itemMatchesText(snapshot, fullText, sql`i.id`), past: hadFullText(fullText) };
  const ctes = searchCtes(snapshot, { ...options, onlyIds }, { ...(text ? { text } : {}), isByText: true });
  const found = await queryRows<{ id: string }>(tx)`${withCtes(ctes, sql`select id from found`)}`;
  return found.map(({ id }) => id);
}
