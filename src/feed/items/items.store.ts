import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import type { CvePrediction } from '../model/item.schema.ts';
import { matchesRow, overriddenRowsAsSeen, overriddenRowsCte } from './list-query/filters.sql.ts';
import { orderedRows } from './list-query/ordered-rows.sql.ts';
import { typographic } from './search-terms/characters.ts';
import type { FullTextQuery } from './search-terms/search-query.ts';
import { toTsquery } from './search/search-query.sql.ts';
import { overridesAt } from './snapshot/override-rows.store.ts';
import { type Sql, visiblePoolIds, withCtes } from './snapshot/query.sql.ts';
import { changedRows, poolTable, wasCurrent, withStateColumns } from './snapshot/snapshot-rows.sql.ts';
import type { Snapshot } from './snapshot/snapshot.ts';

/** Returns every publisher and source name in a snapshot, and possibly some that are new since. */
export function listSourceNames(tx: Tx, snapshot: Snapshot): Promise<{ publisher: string; source_name: string }[]> {
  return queryRows<{ publisher: string; source_name: string }>(tx)`
      select publisher, source_name from feed_counts where pool_id = any(${snapshot.poolIds}::uuid[])
      union select s.publisher, s.source_name from ${poolTable(snapshot)} join item_states s on ${wasCurrent}`;
}

/** `platforms` is a comma-separated list. */
export type ItemCountRow = {
  severity: string;
  status: string;
  platforms: string;
  publisher: string;
  source_name: string;
  n: number;
};

/**
 * Counts the items of a snapshot by the columns that lists filter by, with overrides applied if `overridesSeq` is set, and without duplicates if
 * `rootsOnly` is set.
 */
export function readItemCounts(
  tx: Tx,
  snapshot: Snapshot,
  { overridesSeq, rootsOnly = false }: { overridesSeq: number | undefined; rootsOnly?: boolean },
): Promise<ItemCountRow[]> {
  const countEach = (table: Sql, n: 1 | -1): Sql =>
    sql`select severity, status, array_to_string(platforms, ','), publisher, source_name, ${sql.lit(n)} from ${table}
      where ${matchesRow({ rootsOnly })}`;
  const counts = [
    sql`select severity, status, platforms, publisher, source_name, ${rootsOnly ? sql`roots` : sql`n`} as n from feed_counts where pool_id = any(${snapshot.poolIds}::uuid[])`,
    countEach(changedRows(snapshot), -1),
    countEach(sql`${poolTable(snapshot)} join item_states s on ${wasCurrent}`, 1),
    ...(overridesSeq === undefined ? [] : [countEach(sql`overridden_rows`, -1), countEach(overriddenRowsAsSeen, 1)]),
  ];
  const ctes = overridesSeq === undefined ? [] : [overriddenRowsCte(snapshot, overridesSeq)];
  const query = sql`select severity, status, platforms, publisher, source_name, sum(n) as n from (${sql.join(counts, sql` union all `)}) counted
    group by severity, status, platforms, publisher, source_name having sum(n) <> 0`;
  return queryRows<ItemCountRow>(tx)`${withCtes(ctes, query)}`;
}

export type RecentItemRow = {
  id: string;
  title: string;
  severity: string;
  publish_time: Date | null;
  added_to_feed_at: Date;
};

/** Returns the newest items of a snapshot. */
export function listRecentItems(
  tx: Tx,
  snapshot: Snapshot,
  { overridesSeq, limit }: { overridesSeq: number | undefined; limit: number },
): Promise<RecentItemRow[]> {
  const listed = orderedRows(snapshot, {}, { limit: sql`${limit}` });
  const recent = sql`(${withStateColumns(listed, ['title', 'severity', 'publish_time'])}) recent`;
  const overrides = overridesSeq === undefined ? undefined : overridesAt(overridesSeq);
  const query = sql<RecentItemRow>`
    select recent.id, recent.title, recent.publish_time, recent.added_to_feed_at,
      ${overrides ? sql`coalesce(o.severity, recent.severity)` : sql`recent.severity`} as severity
    from ${recent} ${overrides ? sql`left join ${overrides} o on o.item_id = recent.id` : sql``}
    order by recent.added_to_feed_at desc, recent.id desc`;
  return queryRows(tx, query);
}

/** `severityText` is that of `toSeverityText`, or empty if another record of the group decided. */
type ItemRow = { doc: string; next_expiry_at: Date | null; severityText: string; related: string[] };

/** Finds a visible item. `related` are the items that it follows or that follow it. */
export function findItem(tx: Tx, id: string): Promise<ItemRow | undefined> {
  return queryRow<ItemRow>(tx)`
      select doc, next_expiry_at,
        case when own_doc is null or own_doc::json #>> '{event,severity}' = severity then severity_rule else '' end as "severityText",
        array(select earlier.id from items earlier where earlier.pool_id in ${visiblePoolIds} and earlier.id = any(items.related))
        || array(select later.id from items later where later.pool_id in ${visiblePoolIds} and items.id = any(later.related)
          and (later.source_id, later.record_id) = (items.source_id, items.record_id)) as related
      from items where id = ${id} and pool_id in ${visiblePoolIds}`;
}

type VersionRow = { version: number; cause: string; changed: string[]; at: Date; note: string | null };
const versionsMax = 1_000;

/** Returns the versions of a visible item, newest first. */
export function listVersions(tx: Tx, id: string): Promise<VersionRow[]> {
  return queryRows<VersionRow>(tx)`
      select version, cause, changed, at, note from item_versions
      where item_id = ${id} and pool_id in ${visiblePoolIds} order by version desc limit ${versionsMax}`;
}

/** Delimiters in headlines: characters for private use, which are removed from the texts. */
export const marks = { start: '\u{E000}', stop: '\u{E001}', next: '\u{E002}' };

export type HighlightedText = {
  id: string;
  version: number;
  title: string;
  summary: string;
  names: string;
  indicators: string;
};

/**
 * Texts with `marks` around the words that match. Null if the search has no word that must occur. `passage` is the part of the text around the first
 * of the query's runs.
 */
export type Headlines = { id: string } & Record<
  'title' | 'summary' | 'text' | 'passage' | 'names' | 'indicators',
  string | null
>;

/** Characters of a passage, and those of them before the run. */
export const passageChars = { all: 120, before: 30 };

const textMaxChars = 100_000;
const pageMaxChars = 2_000_000;

/** Returns excerpts of the texts of items, of title, names and indicators everything, with the words marked that a search finds. */
export function readHeadlines(tx: Tx, items: HighlightedText[], query: FullTextQuery): Promise<Headlines[]> {
  const column = <K extends keyof HighlightedText>(name: K): HighlightedText[K][] => items.map((item) => item[name]);
  const maxChars = Math.min(textMaxChars, Math.floor(pageMaxChars / Math.max(items.length, 1)));
  const headline = (text: Sql, options: string): Sql =>
    sql`ts_headline('tocsin_text', translate(${text}, ${typographic.from + Object.values(marks).join('')}, ${typographic.to}), q.words, ${`StartSel="${marks.start}", StopSel="${marks.stop}", FragmentDelimiter="${marks.next}", ${options}`})`;
  return queryRows<Headlines>(tx)`
    select p.id, ${headline(sql`p.title`, 'HighlightAll=true')} as title,
      ${headline(sql`p.summary`, 'MaxFragments=1, MaxWords=30, MinWords=15')} as summary,
      ${headline(sql`left(v.stored_text, ${maxChars}::int)`, 'MaxFragments=2, MaxWords=30, MinWords=15')} as text,
      ${passageOf(query)} as passage,
      ${headline(sql`p.names`, 'HighlightAll=true')} as names,
      ${headline(sql`p.indicators`, 'HighlightAll=true')} as indicators
    from unnest(${column('id')}::uuid[], ${column('version')}::int[], ${column('title')}::text[], ${column('summary')}::text[],
      ${column('names')}::text[], ${column('indicators')}::text[]) as p (id, version, title, summary, names, indicators)
    left join item_versions v on v.item_id = p.id and v.version = p.version
    cross join (${anyWordOf(query)}) q`;
}

const passageOf = ({ runs }: FullTextQuery): Sql =>
  runs.length === 0
    ? sql`null`
    : sql`(
        select substr(v.stored_text, greatest(place - ${passageChars.before}::int, 1), ${passageChars.all})
        from unnest(${runs}::text[]) run cross join lateral strpos(v.stored_text, run) place where place > 0 order by place limit 1)`;

/** A query that matches each word of a search separately, without the excluded ones: an excerpt rarely contains all words. */
const anyWordOf = (query: FullTextQuery): Sql => sql`
  select case when words in ('', 'T') then null else replace(words, ' & ', ' | ')::tsquery end as words
  from (select querytree(${toTsquery(query)}) as words) tree`;

const duplicatesMax = 500;
const relatedMax = 50;
const sharingMax = 500;
const itemsWithOverride = sql`items i left join feed_overrides o on o.organization_id = tocsin_org() and o.item_id = i.id`;
const rootAsSeen = sql`case when o.moved then o.duplicate_of else i.duplicate_of end`;

/** Returns the other items of the item's group as the organization sees it: the root first, then the oldest. */
export async function listDuplicates(tx: Tx, id: string): Promise<string[]> {
  const found = await queryRows<{ id: string }>(tx)`
      with root as materialized (select coalesce(${rootAsSeen}, i.id) as id from ${itemsWithOverride} where i.id = ${id}),
      near as (
        select id from root
        union select i.id from root join items i on i.duplicate_of = root.id
        union select o.item_id from root join feed_overrides o on o.organization_id = tocsin_org() and o.duplicate_of = root.id
      )
      select i.id from root, near join ${itemsWithOverride} on i.id = near.id
      where coalesce(${rootAsSeen}, i.id) = root.id and i.id <> ${id} and i.pool_id in ${visiblePoolIds}
      order by i.id <> root.id, i.added_to_feed_at, i.id limit ${duplicatesMax}`;
  return found.map((item) => item.id);
}

/** Returns the newest visible items that share a CVE with the item, including items of its group. */
export async function listSharingCve(tx: Tx, id: string): Promise<string[]> {
  const found = await queryRows<{ id: string }>(tx)`
      select i.id from items i join (
        select distinct other.item_id from item_terms t cross join lateral (
          select o.item_id from item_terms o where o.kind = 'cve' and o.value = t.value and o.item_id <> t.item_id
            and o.pool_id in ${visiblePoolIds} limit ${sharingMax}
        ) other where t.item_id = ${id} and t.kind = 'cve'
      ) near on near.item_id = i.id
      where i.pool_id in ${visiblePoolIds} and i.status <> 'retracted' order by i.added_to_feed_at desc, i.id desc limit ${relatedMax}`;
  return found.map((item) => item.id);
}

type TextRow = { version: number; stored_text: string; at: Date };

/** Finds the text of a version of a visible item, or of its newest version if `version` is undefined. */
export function findText(tx: Tx, id: string, version: number | undefined): Promise<TextRow | undefined> {
  const isVersion = version === undefined ? sql`true` : sql`version = ${version}`;
  return queryRow<TextRow>(tx)`
      select version, stored_text, at from item_versions
      where item_id = ${id} and pool_id in ${visiblePoolIds} and ${isVersion}
      order by version desc limit 1`;
}

/** Stores a batch of predictions unless newer ones are stored. Returns the number of new CVEs and of changed predictions. */
export async function upsertPredictions(
  tx: Tx,
  poolId: string,
  { batch, scoredAt }: { batch: string; scoredAt: string },
): Promise<{ added: number; changed: number }> {
  const counted = await queryRow<{ added: number; changed: number }>(tx)`
      with listed as (
        select r ->> 0 as cve, (r ->> 1)::float8 as probability, (r ->> 2)::float8 as percentile from jsonb_array_elements(${batch}::jsonb) r
      ),
      known as (select l.cve from listed l join cve_predictions p on p.pool_id = ${poolId} and p.cve = l.cve),
      written as (
        insert into cve_predictions as p (pool_id, cve, probability, percentile, scored_at)
        select ${poolId}, cve, probability, percentile, ${scoredAt} from listed order by cve
        on conflict (pool_id, cve) do update
          set probability = excluded.probability, percentile = excluded.percentile, scored_at = excluded.scored_at
          where p.scored_at < excluded.scored_at
        returning p.cve
      )
      select (count(*) filter (where known.cve is null))::int as added, count(known.cve)::int as changed
      from written left join known using (cve)`;
  return counted ?? { added: 0, changed: 0 };
}

const predictionsMax = 100;

/** Returns the newest visible prediction for each of the CVEs, the most probable first. */
export async function listPredictions(tx: Tx, cves: string[]): Promise<CvePrediction[]> {
  if (cves.length === 0) return [];
  const found = await queryRows<Omit<CvePrediction, 'scoredAt'> & { scored_at: Date }>(tx)`
      select * from (
        select distinct on (cve) cve, probability, percentile, scored_at from cve_predictions
        where cve = any(${cves}) and pool_id in ${visiblePoolIds} order by cve, scored_at desc
      ) newest order by probability desc, cve limit ${sql.lit(predictionsMax)}`;
  return found.map(({ scored_at: scoredAt, ...prediction }) => ({ ...prediction, scoredAt: scoredAt.toISOString() }));
}
