import { sql, type RawBuilder } from 'kysely';
import { queryRow, type Tx } from '../db/db.ts';
import type { OrgId } from '../lib/org-id.ts';
import { deleteRowsWithValue } from '../db/erasure.store.ts';

/** After this time a request in flight counts as dead and its key can be claimed again. */
const inFlightTimeout = '2 minutes';

/** Requests of one owner share its idempotency keys. `orgId` is null for the operator, who belongs to no organization. */
export type IdempotencyOwner = { orgId: OrgId | null; id: string };
export type IdempotencyClaim = { owner: IdempotencyOwner; route: string; key: string };
/** `status` and `answer` (the response body) are null while the request is in flight. */
export type StoredResponse = { body_hash: Buffer; status: number | null; answer: string | null; isNew: boolean };

const isClaimed = ({ owner: { orgId, id }, route, key }: IdempotencyClaim): RawBuilder<boolean> =>
  sql`${orgId === null ? sql`organization_id is null` : sql`organization_id = ${orgId}`} and key_id = ${id} and route = ${route} and idempotency_key = ${key}`;

/** Claims a key for a request. `isNew` is true if this request holds the key now. Otherwise the row of the earlier request is returned. */
export async function claimIdempotencyKey(tx: Tx, claim: IdempotencyClaim, hash: Buffer): Promise<StoredResponse> {
  const { owner, route, key } = claim;
  await sql`
    delete from idempotency_keys
    where ${isClaimed(claim)}
      and (created_at < now() - interval '24 hours' or (status is null
      and created_at < now() - ${inFlightTimeout}::interval))`.execute(tx);
  const inserted = await queryRow<StoredResponse>(
    tx,
    sql<StoredResponse>`
      insert into idempotency_keys (organization_id, key_id, route, idempotency_key, body_hash)
      values (${owner.orgId}, ${owner.id}, ${route}, ${key}, ${hash})
      on conflict do nothing returning body_hash, status, answer, true as "isNew"`,
  );
  if (inserted) return inserted;
  const existing = await queryRow<StoredResponse>(
    tx,
    sql<StoredResponse>`
      select body_hash, status, answer, false as "isNew" from idempotency_keys
      where ${isClaimed(claim)}`,
  );
  // The other request released its key between the two statements. Treat it as still in flight.
  return existing ?? { body_hash: hash, status: null, answer: null, isNew: false };
}

/** Stores the response of a claimed key for replay. */
export async function storeResponse(tx: Tx, claim: IdempotencyClaim, status: number, response: string): Promise<void> {
  await sql`
    update idempotency_keys set status = ${status}, answer = ${response}
    where ${isClaimed(claim)}`.execute(tx);
}

/** Releases the key of a failed request, so that it can be retried. */
export async function releaseIdempotencyKey(tx: Tx, claim: IdempotencyClaim): Promise<void> {
  await sql`
    delete from idempotency_keys
    where ${isClaimed(claim)} and status is null`.execute(tx);
}

export async function deleteExpiredKeysAcrossOrgs(tx: Tx): Promise<void> {
  await sql`delete from idempotency_keys where created_at < now() - interval '24 hours'`.execute(tx);
}

/** Deletes stored responses that contain a value. */
export async function eraseFromIdempotencyKeys(tx: Tx, orgId: OrgId, value: string): Promise<Record<string, never>> {
  await deleteRowsWithValue(tx, { orgId, table: 'idempotency_keys', columns: ['answer'] }, value);
  return {};
}
