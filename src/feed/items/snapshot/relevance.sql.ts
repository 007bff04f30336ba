import { sql } from 'kysely';
import { row, type Tx } from '../../../platform/db/db.ts';
import { saidIds } from '../overrides/overrides.sql.ts';
import type { View } from './snapshot.ts';

type Sql = ReturnType<typeof sql>;

/**
 * What of its own an organization's lists answer by. `version`: of the profile, undefined where none was in force at the moment of the view;
 * `own`: where its own pool stood then, undefined while it says nothing of any item; `seq`: the same whether it does or not.
 */
export type Answering = {
  profile: 'none' | 'set';
  rebuilding: boolean;
  version: number | undefined;
  own: number | undefined;
  seq: number;
};

/** Of the transaction's organization, at the moment of a view; now where none is given. */
export async function findAnswering(tx: Tx, view?: View): Promise<Answering> {
  const seqs = view
    ? sql`select v.seq from unnest(${view.poolIds}::uuid[], ${view.seqs}::bigint[]) as v (id, seq)
        join feed_pools pool on pool.id = v.id and pool.kind = 'private' and pool.organization_id = tocsin_org()`
    : sql`select seq from feed_pools where kind = 'private' and organization_id = tocsin_org()`;
  const found = await row(
    tx,
    sql<{ has_profile: boolean; rebuilding: boolean; version: number | null; seq: number; says: boolean }>`
      select own.seq, exists(select from feed_overrides where organization_id = tocsin_org()) as says,
        coalesce(p.has_profile, false) as has_profile, coalesce(p.built_version < p.version, false) as rebuilding, (
          select case when b.has_profile then b.version end from feed_relevance_builds b
          where b.organization_id = p.organization_id and b.seq_from <= own.seq order by b.version desc limit 1) as version
      from (select coalesce(max(seqs.seq), -1) as seq from (${seqs}) seqs) own
        left join feed_profiles p on p.organization_id = tocsin_org()`,
  );
  const { has_profile, rebuilding, version, seq, says } = found!;
  return {
    profile: has_profile ? 'set' : 'none',
    rebuilding,
    version: version ?? undefined,
    own: says ? seq : undefined,
    seq,
  };
}

/** A condition on the id of an item that is relevant to the organization. Undefined where no profile says what is: everything is then. */
export function isRelevant(answering: Answering): ((id: Sql) => Sql) | undefined {
  const ids = relevantIds(answering);
  return ids && ((id) => sql`${id} in (${ids})`);
}

/** The ids of the items that are relevant, as a query: the organization's own word, or that of its logs, counts before the score. */
export function relevantIds({ version, own, seq }: Answering): Sql | undefined {
  if (version === undefined) return undefined;
  const scored = sql`
    select r.item_id from feed_relevance r
    where r.organization_id = tocsin_org() and r.version = ${version} and r.seq_from <= ${seq} and r.seq_until > ${seq}`;
  if (own === undefined) return scored;
  const denied = saidIds(own, sql`said.relevance = 'irrelevant'`);
  return sql`${scored} and r.item_id not in ${denied} union all ${saidIds(own, isSaid)}`;
}

/** Whether the organization, or its logs, say of an item that it is relevant. */
const isSaid: Sql = sql`said.relevance = 'relevant' or (said.exposed_at is not null and said.relevance is null)`;
