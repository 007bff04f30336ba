import { sql } from 'kysely';
import { queryRow, type Tx } from '../../../platform/db/db.ts';
import type { Sql } from './query.sql.ts';
import type { Snapshot } from './snapshot.ts';

/** The organization's own part of a snapshot, beside the pools: its relevance profile and its overrides. */
export type OrgState = {
  profile: 'none' | 'set';
  /** Relevance under the newest profile is still being computed. */
  rebuilding: boolean;
  /** The version of the profile in force. Undefined if no profile was in force. */
  profileVersion: number | undefined;
  /** Equal to `ownSeq` if the organization has overrides, otherwise undefined. */
  overridesSeq: number | undefined;
  /** The sequence number of the organization's private pool, -1 if it has none. */
  ownSeq: number;
};

/** Reads the state of the transaction's organization at a snapshot, or now if there is none. */
export async function readOrgState(tx: Tx, snapshot?: Snapshot): Promise<OrgState> {
  const found = await queryRow<{
    hasProfile: boolean;
    rebuilding: boolean;
    version: number | null;
    seq: number;
    hasOverrides: boolean;
  }>(tx)`
      select own.seq, exists(select from feed_overrides where organization_id = tocsin_org()) as "hasOverrides",
        coalesce(p.has_profile, false) as "hasProfile", coalesce(p.built_version < p.version, false) as rebuilding, (
          select case when b.has_profile then b.version end from feed_relevance_builds b
          where b.organization_id = p.organization_id and b.seq_from <= own.seq order by b.version desc limit 1) as version
      from (select coalesce(max(seqs.seq), -1) as seq from (${ownPoolSeq(snapshot)}) seqs) own
        left join feed_profiles p on p.organization_id = tocsin_org()`;
  const { hasProfile, rebuilding, version, seq, hasOverrides } = found!;
  return {
    profile: hasProfile ? 'set' : 'none',
    rebuilding,
    profileVersion: version ?? undefined,
    overridesSeq: hasOverrides ? seq : undefined,
    ownSeq: seq,
  };
}

const ownPoolSeq = (snapshot: Snapshot | undefined): Sql =>
  snapshot
    ? sql`select v.seq from unnest(${snapshot.poolIds}::uuid[], ${snapshot.seqs}::bigint[]) as v (id, seq)
        join feed_pools pool on pool.id = v.id and pool.kind = 'private' and pool.organization_id = tocsin_org()`
    : sql`select seq from feed_pools where kind = 'private' and organization_id = tocsin_org()`;
