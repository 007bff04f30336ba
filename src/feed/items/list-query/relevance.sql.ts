import { sql } from 'kysely';
import { overriddenIds } from '../overrides/overrides.sql.ts';
import type { OrgState } from '../snapshot/org-state.store.ts';
import type { Condition, IdSet, Sql } from './query.sql.ts';

/** Returns the condition that the item with an id is relevant to the organization. Undefined if no profile is in force: every item then is. */
export function isRelevant(state: OrgState): ((id: Sql) => Condition) | undefined {
  const ids = relevantIds(state);
  return ids && ((id) => sql`${id} in (${ids})`);
}

/** Ids of the relevant items, as a query. A verdict of the organization, or a sighting in its logs, wins over the score. */
export function relevantIds({ profileVersion, overridesSeq, ownSeq }: OrgState): Sql | undefined {
  if (profileVersion === undefined) return undefined;
  const scored = sql`select r.item_id from feed_relevance r where ${isScored({ profileVersion, ownSeq })}`;
  if (overridesSeq === undefined) return scored;
  const irrelevant = overriddenIds(overridesSeq, sql`o.relevance = 'irrelevant'`);
  return sql`${scored} and r.item_id not in ${irrelevant} union all ${overriddenIds(overridesSeq, isMarkedRelevant)}`;
}

/** Returns the relevant items. Undefined if no profile is in force. */
export function relevantItems(state: OrgState): IdSet | undefined {
  const ids = relevantIds(state);
  if (!ids) return undefined;
  const { profileVersion, overridesSeq, ownSeq } = state;
  const hasScore = (id: Sql): Condition => sql`coalesce((
    select true from feed_relevance r where r.item_id = ${id} and ${isScored({ profileVersion, ownSeq })} limit 1), false)`;
  if (overridesSeq === undefined) return { ids, contains: hasScore };
  return {
    ids,
    contains: (id) => sql`
      case when ${id} in ${overriddenIds(overridesSeq, hasOwnRelevance)} then ${id} in ${overriddenIds(overridesSeq, isMarkedRelevant)}
        else ${hasScore(id)} end`,
  };
}

/**
 * Returns the condition that a row of `feed_relevance r` is a score of the organization that is in force. The organization is a subquery, so that
 * it is evaluated once.
 */
export const isScored = ({ profileVersion, ownSeq }: Pick<OrgState, 'profileVersion' | 'ownSeq'>): Condition => sql`
  r.organization_id = (select tocsin_org()) and r.version = ${profileVersion} and r.seq_from <= ${ownSeq} and r.seq_until > ${ownSeq}`;

/** Whether the override `o` makes its item relevant: by a verdict, or by a sighting that no verdict contradicts. */
export const isMarkedRelevant: Condition = sql`o.relevance = 'relevant' or (o.exposed_at is not null and o.relevance is null)`;

/** Whether the override `o` decides the relevance of its item, whatever its score. */
export const hasOwnRelevance: Condition = sql`o.relevance = 'irrelevant' or ${isMarkedRelevant}`;
