import { sql } from 'kysely';
import { isOfSource, type ItemFilters, overriddenRowsCte, usesOverriddenRows } from '../list-query/filters.sql.ts';
import { orderedRows } from '../list-query/ordered-rows.sql.ts';
import { allOf, byItemId, type Condition, type Cte, type Sql, type StateCondition } from '../snapshot/query.sql.ts';
import { isCurrentInAny, isInSnapshot } from '../snapshot/snapshot-rows.sql.ts';
import { overriddenIds, overridesAt } from '../snapshot/override-rows.store.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import {
  hadFullText,
  hadTerm,
  isAmong,
  isUpdatedSince,
  itemHasTerm,
  itemMatchesText,
  type SearchOptions,
} from './search-query.sql.ts';
import type { FullTextQuery } from '../search-terms/search-query.ts';

/** For more rows, the ids to which a list is restricted are hashed, which costs as much as so many look-ups. */
export const lookUpsMax = 40_000;

/**
 * Returns the newest `limit` rows of a search, in the order of the list, with the CTEs that the query needs. Scans the list and compares each
 * row, which is quick if the search matches a large part of it. `passed` is about how many rows of the list it passes.
 */
export function scanSearch(
  snapshot: Snapshot,
  options: SearchOptions,
  { limit, passed }: { limit: number; passed: number },
): { ctes: Cte[]; rows: Sql } {
  const { filters, search } = options;
  const { sources: _matchedWithText, ...columnFilters } = filters;
  const listFilters: ItemFilters = search.rootsOnly ? { ...columnFilters, rootsOnly: true } : columnFilters;
  const { overridesSeq } = filters;
  const ctes =
    overridesSeq !== undefined && usesOverriddenRows(listFilters) ? [overriddenRowsCte(snapshot, overridesSeq)] : [];
  return {
    ctes,
    rows: orderedRows(snapshot, listFilters, { limit: sql`${limit}`, match: matchOf(snapshot, options, passed) }),
  };
}

function matchOf(snapshot: Snapshot, options: SearchOptions, passed: number): StateCondition {
  const { search, filters, onlyIds } = options;
  const updated = search.updatedSince
    ? isUpdatedSince({ since: search.updatedSince, overridesSeq: filters.overridesSeq })
    : undefined;
  const isWanted = onlyIds && (passed <= lookUpsMax ? byItemId(onlyIds.contains) : isAmong(onlyIds.ids));
  const matches = storyConditions(snapshot, options);
  const orDuplicate = (own: Condition, id: Sql): Condition =>
    search.rootsOnly ? sql`(${own}) or ${hasMatchingDuplicate(snapshot, options, id)}` : own;
  return {
    current: allOf([
      ...search.rootTerms.map((term) => itemHasTerm(term, sql`i.id`)),
      updated?.current,
      isWanted?.current,
      orDuplicate(matches.current(sql`i.id`), sql`i.id`),
    ]),
    past: allOf([
      ...search.rootTerms.map(hadTerm),
      updated?.past,
      isWanted?.past,
      orDuplicate(matches.past, sql`s.item_id`),
    ]),
  };
}

/** The conditions that a duplicate may meet for its root. */
function storyConditions(
  snapshot: Snapshot,
  { filters: { sources }, search }: SearchOptions,
): { current: (id: Sql) => Condition; past: Condition } {
  const text: FullTextQuery | undefined = search.fullText;
  const isOfSources = sources && isOfSource(sources);
  return {
    current: (id) =>
      allOf([
        isOfSources,
        ...search.terms.map((term) => itemHasTerm(term, id)),
        text && itemMatchesText(snapshot, text, id),
      ]),
    past: allOf([isOfSources, ...search.terms.map(hadTerm), text && hadFullText(text)]),
  };
}

/** Returns the condition that a duplicate of a root, as the organization sees it, meets the conditions. Few duplicates are overridden or changed. */
function hasMatchingDuplicate(snapshot: Snapshot, options: SearchOptions, root: Sql): Condition {
  const { overridesSeq } = options.filters;
  const { current, past } = storyConditions(snapshot, options);
  const isCurrentMember = isCurrentInAny(snapshot, sql`m`);
  const moved = overridesSeq === undefined ? undefined : overriddenIds(overridesSeq, sql`o.moved`);
  const sharedPast = sql`select s.duplicate_of from item_states s
    where ${allOf([isInSnapshot(snapshot).past, past, moved && sql`s.item_id not in ${moved}`])} and s.duplicate_of is not null`;
  const alternatives: Sql[] = [
    // Not `exists`, for which the planner may compare the words of all items of the feed.
    sql`coalesce((select true from items m where ${allOf([sql`m.duplicate_of = ${root}`, isCurrentMember, current(sql`m.id`), moved && sql`m.id not in ${moved}`])} limit 1), false)`,
    sql`${root} in (${sharedPast})`,
  ];
  if (overridesSeq !== undefined)
    alternatives.push(sql`${root} in (
      select o.duplicate_of from ${overridesAt(overridesSeq)} o join items i on i.id = o.item_id
        where o.moved and o.duplicate_of is not null and ${allOf([isInSnapshot(snapshot).current, current(sql`i.id`)])}
      union all
      select o.duplicate_of from ${overridesAt(overridesSeq)} o join item_states s on s.item_id = o.item_id
        where o.moved and o.duplicate_of is not null and ${allOf([isInSnapshot(snapshot).past, past])})`);
  return sql`(${sql.join(alternatives, sql` or `)})`;
}
