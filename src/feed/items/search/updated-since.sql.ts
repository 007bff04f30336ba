import { sql } from 'kysely';
import { allOfStates, byItemId, type Condition, type Sql, type StateCondition } from '../list-query/query.sql.ts';
import { overriddenIds } from '../overrides/overrides.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { isOneOf } from './search-conditions.sql.ts';

/** A time from which on items were updated. An override also updates the item, for its organization. */
export type UpdatePeriod = { since: string; overridesSeq: number | undefined };

/** Returns the condition that an item was updated, which no index serves. */
export const isUpdatedSince = ({ since, overridesSeq }: UpdatePeriod): StateCondition =>
  byItemId((id) =>
    overridesSeq === undefined
      ? isLastUpdatedSince(since)
      : sql`${isLastUpdatedSince(since)} or ${id} in ${overriddenSince(since, overridesSeq)}`,
  );

/**
 * Returns the alternatives of `isUpdatedSince` for items that were added before, of which each item meets one at most. Each is found by an index.
 * Such items are few in comparison with those that were added since.
 */
export function changedSince({ since, overridesSeq }: UpdatePeriod): StateCondition[] {
  const isAddedBefore: Condition = sql`added_to_feed_at < ${since}::timestamptz`;
  // The last condition is that of the index, which leaves out items that have not changed since they were added.
  const isChanged: Condition = sql`${isAddedBefore} and ${isLastUpdatedSince(since)} and last_updated > added_to_feed_at`;
  if (overridesSeq === undefined) return [byItemId(() => isChanged)];
  const overridden = overriddenSince(since, overridesSeq);
  return [
    byItemId((id) => sql`${isChanged} and ${id} not in ${overridden}`),
    allOfStates([byItemId(() => isAddedBefore), isOneOf(overridden)]),
  ];
}

/** Like `changedSince`, with the items that were added since. */
export const updatedSince = ({ poolIds }: Snapshot, period: UpdatePeriod): StateCondition[] =>
  [byItemId(() => isAddedSince(period.since)), ...changedSince(period)].map(({ current, past }) => ({
    // The list of the pools lets one scan of an index find the items of all of them.
    current: sql<boolean>`i.pool_id = any(${poolIds}::uuid[]) and ${current}`,
    past,
  }));

/** Ids of the items that were updated since a time, overrides aside, as a query. */
export const idsUpdatedSince = ({ poolIds }: Snapshot, since: string): Sql => sql`
  select id from items where pool_id = any(${poolIds}::uuid[]) and ${isAddedSince(since)}
  union all
  select id from items where pool_id = any(${poolIds}::uuid[]) and added_to_feed_at < ${since}::timestamptz
    and ${isLastUpdatedSince(since)} and last_updated > added_to_feed_at`;

const isAddedSince = (since: string): Condition => sql`added_to_feed_at >= ${since}::timestamptz`;

const isLastUpdatedSince = (since: string): Condition => sql`last_updated >= ${since}::timestamptz`;

const overriddenSince = (since: string, overridesSeq: number): Sql =>
  overriddenIds(overridesSeq, sql`o.updated_at >= ${since}::timestamptz`);
