import { sql } from 'kysely';
import { acrossOrgs, row, rows, type Db, type Tx } from '../db/db.ts';
import type { OrgId } from '../lib/org-id.ts';
import type { Mark } from '../lib/page-request.ts';

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

export type NewKey = Pick<KeyRow, 'id' | 'name' | 'secret_hash' | 'scopes' | 'expires_at'> & {
  from_environment?: boolean;
};

/** The key of an id: asked before the organization is known. */
export function findKeyAcrossOrgs(db: Db, keyId: string): Promise<KeyRow | undefined> {
  return acrossOrgs(db, (tx) => row(tx, sql<KeyRow>`select * from api_keys where id = ${keyId}`));
}

export async function insertKey(tx: Tx, orgId: OrgId, key: NewKey): Promise<KeyRow> {
  const made = await row(
    tx,
    sql<KeyRow>`
      insert into api_keys (id, organization_id, name, secret_hash, scopes, expires_at, from_environment)
      values (${key.id}, ${orgId}, ${key.name}, ${key.secret_hash}, ${key.scopes}, ${key.expires_at}, ${key.from_environment ?? false})
      returning *`,
  );
  return made!;
}

/** Newest first; revoked ones too. */
export function listKeys(tx: Tx, orgId: OrgId, limit: number, after: Mark | null): Promise<KeyRow[]> {
  return rows(
    tx,
    sql<KeyRow>`
      select * from api_keys where organization_id = ${orgId} ${after ? sql`and (date_trunc('milliseconds', created_at), id) < (${after.at}, ${after.id})` : sql``}
      order by date_trunc('milliseconds', created_at) desc, id desc limit ${limit + 1}`,
  );
}

export function findKey(tx: Tx, orgId: OrgId, keyId: string): Promise<KeyRow | undefined> {
  return row(tx, sql<KeyRow>`select * from api_keys where organization_id = ${orgId} and id = ${keyId} for update`);
}

export async function revokeKey(tx: Tx, orgId: OrgId, keyId: string): Promise<void> {
  await sql`update api_keys set revoked_at = now() where organization_id = ${orgId} and id = ${keyId} and revoked_at is null`.execute(
    tx,
  );
}

export async function rotateKey(
  tx: Tx,
  orgId: OrgId,
  keyId: string,
  change: { hash: Buffer; previousUntil: Date },
): Promise<void> {
  await sql`
    update api_keys set previous_secret_hash = secret_hash, previous_until = ${change.previousUntil}, secret_hash = ${change.hash}
    where organization_id = ${orgId} and id = ${keyId}`.execute(tx);
}

export type OrgRow = { id: OrgId; name: string; created_at: Date };

export async function insertOrgAcrossOrgs(tx: Tx, org: { id: OrgId; name: string }): Promise<boolean> {
  const made = await row(
    tx,
    sql`insert into organizations (id, name) values (${org.id}, ${org.name}) on conflict (name) do nothing returning id`,
  );
  return made !== undefined;
}

export function findOrgAcrossOrgs(tx: Tx, name: string): Promise<OrgRow | undefined> {
  return row(tx, sql<OrgRow>`select * from organizations where name = ${name}`);
}

export function listOrgsAcrossOrgs(tx: Tx): Promise<OrgRow[]> {
  return rows(tx, sql<OrgRow>`select * from organizations order by created_at, id`);
}
