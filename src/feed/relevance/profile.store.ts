import { sql } from 'kysely';
import { queryRow, type Tx } from '../../platform/db/db.ts';
import { lockName } from '../../platform/db/lock-name.store.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

export type ProfileRow = { profile: string; version: number; built_version: number; updated_at: Date };

const selectProfile = (orgId: OrgId) =>
  sql<ProfileRow>`select profile, version, built_version, updated_at from feed_profiles where organization_id = ${orgId}`;

export const findProfile = (tx: Tx, orgId: OrgId): Promise<ProfileRow | undefined> =>
  queryRow(tx, selectProfile(orgId));

/** Finds the profile and serializes changes to it until the transaction ends, also if it does not exist yet. */
export async function lockProfile(tx: Tx, orgId: OrgId): Promise<ProfileRow | undefined> {
  await lockName(tx, `profile ${orgId}`);
  return queryRow(tx, sql<ProfileRow>`${selectProfile(orgId)} for no key update`);
}

/** Stores the next version of a profile. `updated_at` always increases. */
export async function upsertProfile(
  tx: Tx,
  orgId: OrgId,
  { profile, hasProfile, now }: { profile: string; hasProfile: boolean; now: Date },
): Promise<ProfileRow> {
  const stored = await queryRow<ProfileRow>(tx)`
      insert into feed_profiles (organization_id, profile, has_profile, version, updated_at)
      values (${orgId}, ${profile}, ${hasProfile}, 1, ${now})
      on conflict (organization_id) do update set profile = excluded.profile, has_profile = excluded.has_profile, version = feed_profiles.version + 1,
        updated_at = greatest(excluded.updated_at, feed_profiles.updated_at + interval '1 millisecond')
      returning profile, version, built_version, updated_at`;
  return stored!;
}
