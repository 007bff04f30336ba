import { sql } from 'kysely';
import { queryRow, type Tx } from '../../../platform/db/db.ts';
import { withCtes, type Condition, type Sql, type StateCondition } from '../list-query/query.sql.ts';
import { overriddenIds } from '../overrides/overrides.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { hasSampledText, searchTextMatches, toTsquery } from './search-conditions.sql.ts';
import { searchCtes, type SearchOptions } from './search-ctes.sql.ts';
import type { FullTextQuery } from './search-query.ts';

/** Samples of one in so many items, the smallest sample first. A sample is large enough if it contains `matchesMin` matches of the text. */
export type Samples = { oneIn: readonly number[]; matchesMin: number };

/** The error of an estimate from 400 matches is below 5 % two times in three. */
export const defaultSamples: Samples = { oneIn: [256, 16], matchesMin: 400 };

/** The estimated matches of the text alone and of the whole search. */
export type MatchEstimate = { textTotal: number; total: number };

/**
 * Estimates how many items of a snapshot match a search whose text is frequent. Returns undefined if the text has so few matches that they can
 * be collected. The estimate depends on the snapshot alone, so it is the same for all pages of a list and in every process.
 */
export async function estimateMatches(
  tx: Tx,
  snapshot: Snapshot,
  { options, query, samples }: { options: SearchOptions; query: FullTextQuery; samples: Samples },
): Promise<MatchEstimate | undefined> {
  for (const oneIn of samples.oneIn) {
    const matches = await countSampledMatches(tx, snapshot, query, oneIn);
    if (matches < samples.matchesMin) continue;
    const found = await countSampled(tx, snapshot, { options, query, oneIn });
    return { textTotal: matches * oneIn, total: found * oneIn };
  }
  return undefined;
}

/** Returns the size of the smallest sample that contains enough matches of a text, or undefined. */
export async function chooseSample(
  tx: Tx,
  snapshot: Snapshot,
  query: FullTextQuery,
  { oneIn: sizes, matchesMin }: Samples = defaultSamples,
): Promise<number | undefined> {
  for (const oneIn of sizes) if ((await countSampledMatches(tx, snapshot, query, oneIn)) >= matchesMin) return oneIn;
  return undefined;
}

async function countSampledMatches(
  tx: Tx,
  { poolIds }: Snapshot,
  query: FullTextQuery,
  oneIn: number,
): Promise<number> {
  const found = await queryRow<{ n: number }>(tx)`
    select cardinality(tocsin_sample_words(${poolIds}::uuid[], ${toTsquery(query)}, ${oneIn})) as n`;
  return found!.n;
}

type SampledSearch = { options: SearchOptions; query: FullTextQuery; oneIn: number };

async function countSampled(tx: Tx, snapshot: Snapshot, { options, query, oneIn }: SampledSearch): Promise<number> {
  const { search, filters } = options;
  const isTextOfStory = search.terms.length === 0 && filters.sources === undefined;
  const bounds = {
    text: hasSampledText(snapshot, query, oneIn),
    ...(search.rootsOnly && isTextOfStory ? { members: standsForItsStory(query, filters.overridesSeq) } : {}),
  };
  const counted = withCtes(searchCtes(snapshot, options, bounds), sql`select count(*) as n from found`);
  return (await queryRow<{ n: number }>(tx)`${counted}`)!.n;
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
