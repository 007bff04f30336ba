import { sql, type RawBuilder } from 'kysely';
import { acrossOrgs, queryRow, queryRows, type Db, type Tx } from '../db/db.ts';
import type { OrgId } from '../lib/org-id.ts';
import type { PageCursor } from '../lib/page-request.ts';
import { type BoundedWorth, environmentKeyId } from './credentials.ts';

export type KeyRow = {
  id: string;
  organization_id: OrgId;
  name: string;
  secret_hash: Buffer;
  previous_secret_hash: Buffer | null;
  previous_until: Date | null;
  scopes: string[];
  from_environment: boolean;
  created_at: Date;
  expires_at: Date | null;
  revoked_at: Date | null;
};

type NewKeyRow = Pick<KeyRow, 'id' | 'name' | 'secret_hash'> & { from_environment?: boolean };

/** A key with what its organization may do. */
type CallerKeyRow = KeyRow & { is_suspended: boolean; requests_per_minute: number | null };

/** Finds a key by id, before the organization is known. */
export function findKeyAcrossOrgs(db: Db, keyId: string): Promise<CallerKeyRow | undefined> {
  return acrossOrgs(
    db,
    (tx) => queryRow<CallerKeyRow>(tx)`
      select k.*, o.suspended_at is not null as is_suspended, l.requests_per_minute
      from api_keys k join organizations o on o.id = k.organization_id left join organization_limits l on l.organization_id = o.id where k.id = ${keyId}`,
  );
}

/** Returns whether a key is neither revoked nor expired, and its organization not suspended. */
export async function isKeyActive(tx: Tx, orgId: OrgId, keyId: string): Promise<boolean> {
  const found = await queryRow(tx)`select 1 from api_keys where organization_id = ${orgId} and id = ${keyId}
      and revoked_at is null and (expires_at is null or expires_at > now()) and ${isNotSuspended(sql`organization_id`)}`;
  return found !== undefined;
}

/** Counts the keys that are neither revoked nor expired. */
export async function countActiveKeys(tx: Tx, orgId: OrgId): Promise<number> {
  const row = await queryRow<{ n: number }>(tx)`select count(*) as n from api_keys where organization_id = ${orgId}
      and revoked_at is null and (expires_at is null or expires_at > now())`;
  return row!.n;
}

export async function insertKey(tx: Tx, { orgId, scopes, expiresAt }: BoundedWorth, key: NewKeyRow): Promise<KeyRow> {
  const inserted = await queryRow<KeyRow>(tx)`
      insert into api_keys (id, organization_id, name, secret_hash, scopes, expires_at, from_environment)
      values (${key.id}, ${orgId}, ${key.name}, ${key.secret_hash}, ${scopes}, ${expiresAt}, ${key.from_environment ?? false})
      returning *`;
  return inserted!;
}

/** Returns up to `limit` + 1 keys, newest first, including revoked ones. */
export function listKeyRows(tx: Tx, orgId: OrgId, limit: number, after: PageCursor | null): Promise<KeyRow[]> {
  return queryRows<KeyRow>(tx)`
      select * from api_keys where organization_id = ${orgId} ${after ? sql`and (date_trunc('milliseconds', created_at), id) < (${after.at}, ${after.id})` : sql``}
      order by date_trunc('milliseconds', created_at) desc, id desc limit ${limit + 1}`;
}

/** Finds and locks a key. */
export function findKey(tx: Tx, orgId: OrgId, keyId: string): Promise<KeyRow | undefined> {
  return queryRow<KeyRow>(tx)`select * from api_keys where organization_id = ${orgId} and id = ${keyId} for update`;
}

export async function markKeyRevoked(tx: Tx, orgId: OrgId, keyId: string): Promise<void> {
  await sql`
    update api_keys set revoked_at = now()
      where organization_id = ${orgId} and id = ${keyId} and revoked_at is null`.execute(tx);
}

/** Replaces the secret of a key. `worth` is that of the key, so that it is bounded by the caller who receives the secret. */
export async function updateKeySecret(
  tx: Tx,
  { orgId }: BoundedWorth,
  keyId: string,
  change: { hash: Buffer; previousUntil: Date },
): Promise<void> {
  await sql`
    update api_keys set previous_secret_hash = secret_hash, previous_until = ${change.previousUntil}, secret_hash = ${change.hash}
    where organization_id = ${orgId} and id = ${keyId}`.execute(tx);
}

/** Returns the hash of the key from the environment, if one is stored. */
export async function findEnvironmentKeyHashAcrossOrgs(tx: Tx): Promise<Buffer | undefined> {
  const key = await queryRow<{ secret_hash: Buffer }>(tx)`
    select secret_hash from api_keys where id = ${environmentKeyId}`;
  return key?.secret_hash;
}

export async function deleteEnvironmentKeyAcrossOrgs(tx: Tx): Promise<void> {
  await sql`delete from api_keys where id = ${environmentKeyId}`.execute(tx);
}

export type OrgRow = {
  id: OrgId;
  name: string;
  created_at: Date;
  suspended_at: Date | null;
  suspended_by: string | null;
  tags: string[];
};
const orgColumns = sql`id, name, created_at, suspended_at, suspended_by, tags`;

/** A reference to an organization. People use its name, programs its ID. */
export type OrgReference = { id: string } | { name: string };

const isOrg = (reference: OrgReference) =>
  'id' in reference ? sql`id = ${reference.id}` : sql`name = ${reference.name}`;

/**
 * Finds an organization and locks it until the transaction ends. Suspending, resuming and requesting an erasure lock the organization before
 * they read or write its erasure.
 */
export function lockOrgAcrossOrgs(tx: Tx, reference: OrgReference): Promise<OrgRow | undefined> {
  return queryRow<OrgRow>(tx)`select ${orgColumns} from organizations where ${isOrg(reference)} for no key update`;
}

/** Records since when and by whom an organization is suspended, or that it is not. */
export async function setSuspendedAcrossOrgs(
  tx: Tx,
  { id, suspended_at, suspended_by }: Pick<OrgRow, 'id' | 'suspended_at' | 'suspended_by'>,
): Promise<void> {
  await sql`
    update organizations set suspended_at = ${suspended_at}, suspended_by = ${suspended_by}
      where id = ${id}`.execute(tx);
}

export async function setTagsAcrossOrgs(tx: Tx, orgId: OrgId, tags: string[]): Promise<void> {
  await sql`update organizations set tags = ${tags}::text[] where id = ${orgId}`.execute(tx);
}

/** Returns whether the erasure of an organization was requested. */
export async function isErasureRequestedAcrossOrgs(tx: Tx, orgId: OrgId): Promise<boolean> {
  return (await queryRow(tx)`select 1 from organization_erasures where id = ${orgId}`) !== undefined;
}

/** Serializes the bootstrap of processes that start at the same time, until the transaction ends. */
export async function lockBootstrapAcrossOrgs(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(8423002)`.execute(tx);
}

/** Inserts an organization. Returns false if the name is taken. */
export async function insertOrgAcrossOrgs(tx: Tx, org: { id: OrgId; name: string }): Promise<boolean> {
  const inserted = await queryRow(tx)`
    insert into organizations (id, name) values (${org.id}, ${org.name}) on conflict (name) do nothing returning id`;
  return inserted !== undefined;
}

export function findOrgAcrossOrgs(tx: Tx, reference: OrgReference): Promise<OrgRow | undefined> {
  return queryRow<OrgRow>(tx)`select ${orgColumns} from organizations where ${isOrg(reference)}`;
}

/** Returns the name of the organization. */
export async function findOrgName(tx: Tx, orgId: OrgId): Promise<string | undefined> {
  return (await queryRow<{ name: string }>(tx)`select name from organizations where id = ${orgId}`)?.name;
}

/** Returns whether the organization is suspended. */
export async function isSuspended(tx: Tx, orgId: OrgId): Promise<boolean> {
  return (
    (await queryRow(tx)`select 1 from organizations where id = ${orgId} and suspended_at is not null`) !== undefined
  );
}

/** Returns up to `limit` + 1 organizations, newest first. `tag` selects those that have it. */
export function listOrgPageAcrossOrgs(
  tx: Tx,
  { limit, after, tag }: { limit: number; after: PageCursor | null; tag?: string | undefined },
): Promise<OrgRow[]> {
  return queryRows<OrgRow>(tx)`
    select ${orgColumns} from organizations where true ${tag === undefined ? sql`` : sql`and ${tag} = any(tags)`}
      ${after ? sql`and (date_trunc('milliseconds', created_at), id) < (${after.at}, ${after.id}::uuid)` : sql``}
    order by date_trunc('milliseconds', created_at) desc, id desc limit ${limit + 1}`;
}

export function listOrgsAcrossOrgs(tx: Tx): Promise<OrgRow[]> {
  return queryRows<OrgRow>(tx)`select ${orgColumns} from organizations order by created_at, id`;
}

/** Condition that an organization is not suspended. The list of suspended organizations is read once per statement. */
export const isNotSuspended = (orgId: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`${orgId} <> all (array(select id from organizations where suspended_at is not null))`;
