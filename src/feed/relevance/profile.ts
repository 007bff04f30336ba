import type { Deps } from '../../app/deps.ts';
import { inOrg } from '../../platform/db/db.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { forgetViews } from '../items/snapshot/snapshot.ts';
import { isEmpty, Profile, type StoredProfile } from './profile.schema.ts';
import { moveOwnPool } from './own-pool.ts';
import { findProfile, lockProfile, writeProfile, type ProfileRow } from './profile.store.ts';

type ProfileDeps = Pick<Deps, 'db' | 'clock'>;

/** The organization's profile; an empty one of version 0 while none was set. */
export async function getProfile({ db }: ProfileDeps, caller: Caller): Promise<StoredProfile> {
  return toStored(await inOrg(db, caller.orgId, (tx) => findProfile(tx, caller.orgId)));
}

/** Replaces the profile as a whole; the same again makes no version. Relevance is then rebuilt in the background. */
export async function putProfile({ db, clock }: ProfileDeps, caller: Caller, input: Profile): Promise<StoredProfile> {
  const hasProfile = !isEmpty(input);
  const profile = JSON.stringify(withoutRepeats(input));
  const stored = await inOrg(db, caller.orgId, async (tx) => {
    const before = await lockProfile(tx, caller.orgId);
    if (before?.profile === profile) return toStored(before);
    // What lists say of the profile changes with it, so their versions do.
    await moveOwnPool(tx, caller.orgId);
    const after = await writeProfile(tx, caller.orgId, { profile, hasProfile, now: clock() });
    await insertAudit(tx, caller, {
      action: 'feed_profile.updated',
      resourceType: 'organization',
      resourceId: caller.orgId,
      before: before ? JSON.parse(before.profile) : null,
      after: JSON.parse(profile),
    });
    return toStored(after);
  });
  forgetViews(db);
  return stored;
}

function withoutRepeats(profile: Profile): Profile {
  const once = <T>(list: T[]): T[] => [
    ...new Map(list.map((entry) => [JSON.stringify(entry).toLowerCase(), entry])).values(),
  ];
  return {
    products: once(profile.products),
    platforms: once(profile.platforms),
    sectors: once(profile.sectors),
    regions: once(profile.regions),
    keywords: once(profile.keywords),
    sweep: profile.sweep,
    threshold: profile.threshold,
  };
}

export const profileOf = (row: ProfileRow | undefined): Profile => Profile.parse(row ? JSON.parse(row.profile) : {});

function toStored(row: ProfileRow | undefined): StoredProfile {
  return {
    ...profileOf(row),
    version: row?.version ?? 0,
    rebuilding: row !== undefined && row.built_version < row.version,
    updatedAt: row?.updated_at.toISOString() ?? null,
  };
}
