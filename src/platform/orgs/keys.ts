import { inOrg, type Db } from '../db/db.ts';
import { appError } from '../lib/errors.ts';
import { toPage, readPageRequest, plainIdPattern, type PageQuery } from '../lib/page-request.ts';
import { auditRecord } from './audit.store.ts';
import { requireQuota } from './limits/quotas.ts';
import { limitSessionsOfKey } from './sessions/sessions.store.ts';
import { boundCredential, generateKey } from './credentials.ts';
import type { Caller } from '../http/caller.ts';
import type { CreateKeyInput, Key, KeyList, KeyWithSecret, RotateKeyInput } from './orgs.schema.ts';
import {
  countActiveKeys,
  findKey,
  insertKey,
  listKeyRows,
  markKeyRevoked,
  updateKeySecret,
  type KeyRow,
} from './orgs.store.ts';

/** `forgetKey` removes a key and its sessions from this process's caches, after the key changed. */
export type ChangeKeyDeps = { db: Db; forgetKey: (keyId: string) => void };

/** Creates a key that is bounded by the caller. Throws 403 for one that would be worth more, and 409 if the quota is used up. */
export async function createKey({ db }: { db: Db }, caller: Caller, input: CreateKeyInput): Promise<KeyWithSecret> {
  const worth = boundCredential(caller, {
    scopes: input.scopes ?? [...caller.scopes].filter((scope) => scope !== 'feed:admin'),
    expiresAt: typeof input.expiresAt === 'string' ? new Date(input.expiresAt) : input.expiresAt,
  });
  const generated = generateKey();
  const row = await inOrg(db, caller.orgId, async (tx) => {
    await requireQuota(tx, caller.orgId, 'apiKeys', () => countActiveKeys(tx, caller.orgId));
    const inserted = await insertKey(tx, worth, {
      id: generated.id,
      name: input.name,
      secret_hash: generated.hash,
    });
    await auditRecord(tx, caller, 'key.created', { before: null, after: toKey(inserted) });
    return inserted;
  });
  return { ...toKey(row), key: generated.text };
}

export async function listKeys({ db }: { db: Db }, caller: Caller, query: PageQuery): Promise<KeyList> {
  const { limit, after } = readPageRequest(query, plainIdPattern);
  const rows = await inOrg(db, caller.orgId, (tx) => listKeyRows(tx, caller.orgId, limit, after));
  const { page, nextCursor } = toPage(rows, limit, (row) => ({ at: row.created_at, id: row.id }));
  return { keys: page.map(toKey), nextCursor };
}

/**
 * Replaces a key's secret. The old secret, and the sessions that signed in with it, stay valid for `overlapSeconds`. Throws 403 for a key that
 * is worth more than the caller: its new secret would be a way to powers that the caller does not have.
 */
export async function rotateKey(
  { db, forgetKey }: ChangeKeyDeps,
  caller: Caller,
  keyId: string,
  input: RotateKeyInput,
): Promise<KeyWithSecret> {
  const generated = generateKey(keyId);
  const row = await inOrg(db, caller.orgId, async (tx) => {
    const key = requireChangeable(await findKey(tx, caller.orgId, keyId), keyId);
    const worth = boundCredential(caller, { scopes: key.scopes, expiresAt: key.expires_at });
    const previousUntil = new Date(Date.now() + (input.overlapSeconds ?? 0) * 1000);
    await updateKeySecret(tx, worth, keyId, { hash: generated.hash, previousUntil });
    await limitSessionsOfKey(tx, caller.orgId, keyId, previousUntil);
    await auditRecord(tx, caller, 'key.rotated', { before: toKey(key), after: toKey(key) });
    return key;
  });
  forgetKey(keyId);
  return { ...toKey(row), key: generated.text };
}

/**
 * Revokes a key permanently, and ends its sessions. Does nothing if it is already revoked. Not bounded by the caller: it gives nobody a power, and
 * a leaked key must not wait for somebody with all of its scopes.
 */
export async function revokeKey({ db, forgetKey }: ChangeKeyDeps, caller: Caller, keyId: string): Promise<Key> {
  const revoked = await inOrg(db, caller.orgId, async (tx) => {
    const key = await findKey(tx, caller.orgId, keyId);
    if (!key) throw appError('not_found', `Key ${keyId} not found.`);
    if (key.revoked_at) return key;
    await markKeyRevoked(tx, caller.orgId, keyId);
    const after = (await findKey(tx, caller.orgId, keyId))!;
    await auditRecord(tx, caller, 'key.revoked', { before: toKey(key), after: toKey(after) });
    return after;
  });
  forgetKey(keyId);
  return toKey(revoked);
}

function requireChangeable(key: KeyRow | undefined, keyId: string): KeyRow {
  if (!key) throw appError('not_found', `Key ${keyId} not found.`);
  if (key.revoked_at) throw appError('conflict', `Key ${keyId} is revoked.`);
  if (key.from_environment)
    throw appError('conflict', 'This key comes from the environment. Change it with the setting TOCSIN_API_KEY.');
  return key;
}

export function toKey(row: KeyRow): Key {
  return {
    id: row.id,
    name: row.name,
    scopes: row.scopes,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at?.toISOString() ?? null,
    revokedAt: row.revoked_at?.toISOString() ?? null,
    fromEnvironment: row.from_environment,
  };
}
