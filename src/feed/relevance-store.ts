import { sql } from 'kysely';
import { row, type Tx } from '../db/db.ts';
import type { View } from './view.ts';

type Sql = ReturnType<typeof sql>;

/**
 * What relevance an organization's lists answer by. `version`: of the profile, undefined where none was in force at the moment of the view;
 * `seq`: of the organization's own pool then.
 */
export type Answering = { profile: 'none' | 'set'; rebuilding: boolean; version: number | undefined; seq: number };

/** Of the transaction's organization, at the moment of a view. */
export async function findAnswering(tx: Tx, view: View): Promise<Answering> {
  const found = await row(
    tx,
    sql<{ has_profile: boolean; rebuilding: boolean; version: number | null; seq: number }>`
      select p.has_profile, p.built_version < p.version as rebuilding, own.seq, (
        select case when b.has_profile then b.version end from feed_relevance_builds b
        where b.organization_id = p.organization_id and b.seq_from <= own.seq order by b.version desc limit 1) as version
      from feed_profiles p cross join lateral (
        select coalesce(max(v.seq), -1) as seq from unnest(${view.poolIds}::uuid[], ${view.seqs}::bigint[]) as v (id, seq)
        join feed_pools pool on pool.id = v.id and pool.kind = 'private' and pool.organization_id = p.organization_id) own
      where p.organization_id = tocsin_org()`,
  );
  return {
    profile: found?.has_profile ? 'set' : 'none',
    rebuilding: found?.rebuilding ?? false,
    version: found?.version ?? undefined,
    seq: found?.seq ?? -1,
  };
}

/** The ids of the items that are relevant under a version, as a query. */
export const relevantIds = (version: number, seq: number): Sql => sql`
  select r.item_id from feed_relevance r
  where r.organization_id = tocsin_org() and r.version = ${version} and r.seq_from <= ${seq} and r.seq_until > ${seq}`;
