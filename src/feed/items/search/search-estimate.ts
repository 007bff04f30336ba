import { sql } from 'kysely';
import { queryRow, type Tx } from '../../../platform/db/db.ts';
import { withCtes, type Condition, type Sql, type StateCondition } from '../snapshot/query.sql.ts';
import { overriddenIds } from '../snapshot/override-rows.store.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import {
  hasSampledText,
  searchCtes,
  type SearchOptions,
  searchTextMatches,
  type TextSample,
  toTsquery,
} from './search-query.sql.ts';
import type { FullTextQuery } from '../search-terms/search-query.ts';

/**
 * Samples of one in so many items, the smallest sample first. A sample is large enough if it contains `matchesMin` matches of the text. Those that
 * probably do not, to judge by a smaller one, are left out.
 */
export type Samples = { oneIn: readonly number[]; matchesMin: number };

/** The error of an estimate from 400 matches is below 5 % two times in three. */
export const defaultSamples: Samples = { oneIn: [1024, 512, 256, 128, 64, 32, 16], matchesMin: 400 };

/**
 * The estimated matches of the text alone and of the whole search, among about so many `items`. The items that were added since the first of `windows` probably contain as
 * many matches as needed, those since the next one four times as many.
 */
export type MatchEstimate = { textTotal: number; total: number; items: number; windows: string[] };

/** A window has more matches than needed, because their number is an estimate. */
const windowMargin = 1.5;

/**
 * Estimates how many items of a snapshot match a search whose text is frequent. Returns undefined if the text has so few matches that they can
 * be collected. The estimate depends on the snapshot alone, so it is the same for all pages of a list and in every process.
 */
export async function estimateMatches(
  tx: Tx,
  snapshot: Snapshot,
  search: { options: SearchOptions; query: FullTextQuery; samples: Samples; needed: number },
): Promise<MatchEstimate | undefined> {
  const { options, query, samples, needed } = search;
  const sample = await readSample(tx, snapshot, query, samples);
  if (!sample) return undefined;
  const { oneIn, ids } = sample;
  const place = Math.ceil((windowMargin * needed) / oneIn) + 1;
  const { n, windows } = await countSampled(tx, snapshot, { options, query, sample, places: [place, 4 * place] });
  return {
    textTotal: ids.length * oneIn,
    total: n * oneIn,
    items: await countFeed(tx),
    windows: windows.filter((since) => since !== null),
  };
}

/** Returns the number of items of the feed, as the planner knows it. */
async function countFeed(tx: Tx): Promise<number> {
  const found = await queryRow<{ items: number }>(tx)`
    select greatest(reltuples, 1)::float8 as items from pg_class where oid = 'item_search'::regclass`;
  return found!.items;
}

/** Returns the matches of a text in the smallest sample that contains enough of them, or undefined. */
export async function readSample(
  tx: Tx,
  { poolIds }: Snapshot,
  query: FullTextQuery,
  { oneIn: sizes, matchesMin }: Samples = defaultSamples,
): Promise<TextSample | undefined> {
  let expected = (_oneIn: number): number => Number.POSITIVE_INFINITY;
  for (const oneIn of sizes) {
    if (expected(oneIn) < matchesMin && oneIn !== sizes.at(-1)) continue;
    const found = await queryRow<{ ids: string[] }>(tx)`
      select tocsin_sample_words(${poolIds}::uuid[], ${toTsquery(query)}, ${oneIn})::text[] as ids`;
    const { ids } = found!;
    if (ids.length >= matchesMin) return { oneIn, ids };
    expected = (other) => (ids.length * oneIn) / other;
  }
  return undefined;
}

/** `places` are numbers from 1. */
type SampledSearch = { options: SearchOptions; query: FullTextQuery; sample: TextSample; places: number[] };

/** The number of matches in the sample, and when the newest ones at the places were added. */
type SampledMatches = { n: number; windows: (string | null)[] };

async function countSampled(
  tx: Tx,
  snapshot: Snapshot,
  { options, query, sample, places }: SampledSearch,
): Promise<SampledMatches> {
  const { search, filters } = options;
  const isTextOfStory = search.terms.length === 0 && filters.sources === undefined;
  const bounds = {
    text: hasSampledText(query, sample),
    isByText: true,
    ...(search.rootsOnly && isTextOfStory ? { members: standsForItsStory(query, filters.overridesSeq) } : {}),
  };
  const counted = withCtes(
    searchCtes(snapshot, options, bounds),
    sql`
    select cardinality(times)::int as n, array(select times[place]::text from unnest(${places}::int[]) as place) as windows
    from (select array(select added_to_feed_at from found order by added_to_feed_at desc) as times) found_times`,
  );
  return (await queryRow<SampledMatches>(tx)`${counted}`)!;
}

/** Leaves out a duplicate whose root matches itself, so that a story has as many chances to be sampled as an item. */
function standsForItsStory(query: FullTextQuery, overridesSeq: number | undefined): StateCondition {
  const isMoved = (id: Sql): Condition =>
    overridesSeq === undefined ? sql`false` : sql`${id} in ${overriddenIds(overridesSeq, sql`o.moved`)}`;
  const stands = (root: Sql, id: Sql): Condition =>
    sql`${root} is null or not ${searchTextMatches(query, root)} or ${isMoved(id)}`;
  return {
    current: stands(sql`i.duplicate_of`, sql`i.id`),
    past: stands(sql`s.duplicate_of`, sql`s.item_id`),
  };
}
