import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../db/db.ts';
import type { OrgId } from '../../lib/org-id.ts';
import { insertAudit } from '../audit.store.ts';

/** An audit entry as the hash covers it. `atMicros` is microseconds since 1970, as text. */
type HashedEntry = {
  organization_id: string;
  sequence: string;
  id: string;
  atMicros: string;
  key_id: string | null;
  actor: string | null;
  action: string;
  resource_type: string;
  resource_id: string;
  before: string | null;
  after: string | null;
};

/** Returns the hash of an entry after the hash of the entry before it. `tocsin_audit_hash` computes the same in the database. */
export function hashAuditEntry(previous: Buffer, entry: HashedEntry): Buffer {
  const fields = [
    entry.organization_id,
    entry.sequence,
    entry.id,
    entry.atMicros,
    entry.key_id,
    entry.actor,
    entry.action,
    entry.resource_type,
    entry.resource_id,
    entry.before,
    entry.after,
  ];
  const text = fields.map((field) => (field === null ? '-' : `${Buffer.byteLength(field)}:${field}`)).join(',');
  return createHash('sha256').update(previous).update(text).digest();
}

/** The newest entry of an organization's audit log, and the newest one that retention deleted. */
export type ChainRow = { sequence: number; hash: Buffer; expired_through: number; expired_hash: Buffer };

export type ChainedEntry = HashedEntry & { hash: Buffer | null };

/** Returns the chain of the organization, if it has any entry. */
export function findChain(tx: Tx, orgId: OrgId): Promise<ChainRow | undefined> {
  return queryRow<ChainRow>(tx)`
    select sequence, hash, expired_through, expired_hash from audit_chains where organization_id = ${orgId}`;
}

/** Returns the place of an entry in the chain, which it gets when its transaction ends. `after` is its JSON text. */
export async function findSequence(
  tx: Tx,
  { action, resourceType, resourceId, after }: Record<'action' | 'resourceType' | 'resourceId' | 'after', string>,
): Promise<number | undefined> {
  const row = await queryRow<{ sequence: number }>(tx)`
    select sequence from audit where resource_type = ${resourceType} and resource_id = ${resourceId} and action = ${action} and after = ${after}
    order by at desc, id desc limit 1`;
  return row?.sequence;
}

/** Returns up to `limit` entries in the order of the chain, from after one sequence through another. */
export function listChainedEntries(
  tx: Tx,
  orgId: OrgId,
  { after, through, limit }: { after: number; through: number; limit: number },
): Promise<ChainedEntry[]> {
  return queryRows<ChainedEntry>(tx)`
    select organization_id, sequence::text as sequence, id, (extract(epoch from at) * 1000000)::bigint::text as "atMicros",
      key_id, actor, action, resource_type, resource_id, before, after, hash
    from audit where organization_id = ${orgId} and sequence > ${after} and sequence <= ${through} order by audit.sequence, id limit ${limit}`;
}

/** Returns up to `limit` entries that have no place between the oldest and the newest entry of the chain. */
export function listUnchainedEntries(tx: Tx, orgId: OrgId, limit: number): Promise<{ id: string }[]> {
  return queryRows<{ id: string }>(tx)`
    select id from audit a left join audit_chains c using (organization_id) where organization_id = ${orgId}
      and (a.sequence is null or c.sequence is null or a.sequence > c.sequence or a.sequence <= c.expired_through) order by at, id limit ${limit}`;
}

/**
 * Deletes up to `limit` of the oldest entries from before a time, of one organization. The chain then continues from the last deleted
 * hash, and a new entry records both. Returns the number of deleted entries.
 */
export async function expireAuditAcrossOrgs(tx: Tx, before: Date, limit: number): Promise<number> {
  const chain = await queryRow<ChainRow & { organization_id: OrgId }>(tx)`
    select c.* from audit_chains c
    where exists (select from audit a where a.organization_id = c.organization_id and a.sequence = c.expired_through + 1 and a.at < ${before})
    order by c.organization_id limit 1 for update skip locked`;
  if (!chain) return 0;
  const { organization_id: orgId, expired_through: from } = chain;
  const last = await queryRow<{ sequence: number; hash: Buffer }>(tx)`
    with first_kept as (select min(sequence) as sequence from audit where organization_id = ${orgId} and sequence > ${from} and at >= ${before})
    select sequence, hash from audit where organization_id = ${orgId} and sequence > ${from} and sequence <= ${from + limit}
      and sequence < coalesce((select sequence from first_kept), ${chain.sequence + 1})
    order by sequence desc limit 1`;
  if (!last) return 0;
  await sql`
    delete from audit
      where organization_id = ${orgId} and sequence > ${from} and sequence <= ${last.sequence}`.execute(tx);
  await sql`
    update audit_chains set expired_through = ${last.sequence}, expired_hash = ${last.hash}
      where organization_id = ${orgId}`.execute(tx);
  const after = { through: last.sequence, hash: last.hash.toString('hex'), entries: last.sequence - from };
  await insertAudit(
    tx,
    { orgId, keyId: null },
    { action: expiredAction, resourceType: 'organization', resourceId: orgId, before: null, after },
  );
  return after.entries;
}

/** Records that retention deleted entries. */
export const expiredAction = 'audit.expired';
