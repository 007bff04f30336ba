import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { requireMatch } from '../../platform/orgs/record-version.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { SnapshotCache } from '../items/snapshot/snapshot.ts';
import { isEmptyProfile, Profile, type StoredProfile } from './profile.schema.ts';
import { findProfile, lockProfile, upsertProfile, type ProfileRow } from './relevance.store.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { advancePools, ensurePrivatePool, lockPool } from '../items/writing/feed-pools.store.ts';

export type PutProfileDeps = { db: Db; clock: Clock; snapshots: SnapshotCache };

/** Returns the organization's profile: an empty one of version 0 if none was ever set. */
export async function getProfile({ db }: { db: Db }, caller: Caller): Promise<StoredProfile> {
  return toStored(await inOrg(db, caller.orgId, (tx) => findProfile(tx, caller.orgId)));
}

const action = 'feed_profile.updated';

/**
 * Replaces the whole profile. Relevance is then recomputed in the background. An unchanged profile creates no new version. Throws 412 if `ifMatch`
 * is not the current ETag.
 */
export async function putProfile(
  { db, clock, snapshots }: PutProfileDeps,
  caller: Caller,
  input: Profile,
  ifMatch?: string,
): Promise<StoredProfile> {
  const hasProfile = !isEmptyProfile(input);
  const profile = JSON.stringify(withoutDuplicates(input));
  const stored = await inOrg(db, caller.orgId, async (tx) => {
    const before = await lockProfile(tx, caller.orgId);
    await requireMatch(tx, ifMatch, toStored(before), {
      resourceType: 'organization',
      resourceId: caller.orgId,
      action,
    });
    if (before?.profile === profile) return toStored(before);
    // Lists report the state of the profile, so their ETags must change with it.
    await advanceOwnPool(tx, caller.orgId);
    const after = await upsertProfile(tx, caller.orgId, { profile, hasProfile, now: clock() });
    await insertAudit(tx, caller, {
      action,
      resourceType: 'organization',
      resourceId: caller.orgId,
      before: before ? toAudited(before) : null,
      after: toAudited(after),
    });
    return toStored(after);
  });
  snapshots.invalidate();
  return stored;
}

const toAudited = ({ profile, updated_at: updatedAt }: ProfileRow) => ({
  ...(JSON.parse(profile) as Profile),
  updatedAt: updatedAt.toISOString(),
});

function withoutDuplicates(profile: Profile): Profile {
  const distinct = <T>(list: T[]): T[] => [
    ...new Map(list.map((entry) => [JSON.stringify(entry).toLowerCase(), entry])).values(),
  ];
  return {
    products: distinct(profile.products),
    platforms: distinct(profile.platforms),
    sectors: distinct(profile.sectors),
    regions: distinct(profile.regions),
    keywords: distinct(profile.keywords),
    requirements: profile.requirements,
    sweep: profile.sweep,
    threshold: profile.threshold,
    timeZone: profile.timeZone,
  };
}

export const parseProfile = (row: Pick<ProfileRow, 'profile'> | undefined): Profile =>
  Profile.parse(row ? JSON.parse(row.profile) : {});

function toStored(row: ProfileRow | undefined): StoredProfile {
  return {
    ...parseProfile(row),
    version: row?.version ?? 0,
    rebuilding: row !== undefined && row.built_version < row.version,
    updatedAt: row?.updated_at.toISOString() ?? null,
  };
}

/**
 * Increases the sequence number of the organization's private pool and returns it. The lists, totals and ETags of this organization alone change
 * with it. The pool stays locked until the transaction ends.
 */
export async function advanceOwnPool(tx: Tx, orgId: OrgId): Promise<number> {
  const pool = await lockPool(tx, await ensurePrivatePool(tx, orgId, uuidv7()));
  await advancePools(tx, [pool.id], pool.last_added_at);
  return pool.seq + 1;
}

/** Runs `work` with the organization's private pool locked, and advances the pool if `work` returns that it changed something. */
export async function withOwnPoolLocked(tx: Tx, orgId: OrgId, work: () => Promise<boolean>): Promise<void> {
  const pool = await lockPool(tx, await ensurePrivatePool(tx, orgId, uuidv7()));
  if (await work()) await advancePools(tx, [pool.id], pool.last_added_at);
}
