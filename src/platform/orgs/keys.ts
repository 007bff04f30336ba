import { inOrg } from '../db/db.ts';
import type { Deps } from '../../app/deps.ts';
import { appError } from '../lib/errors.ts';
import { pageOf, pageRequest, plainMark, type PageQuery } from '../lib/page-request.ts';
import { insertAudit, listAudit } from './audit.store.ts';
import type { Caller } from './caller.ts';
import type { AuditList, CreateKey, Key, KeyList, KeyWithSecret, RotateKey } from './orgs.schema.ts';
import { newPlainKey } from './key-secret.ts';
import { findKey, insertKey, listKeys, revokeKey, rotateKey, type KeyRow } from './orgs.store.ts';

/** Makes a key of the caller's organization. A caller grants only scopes that it holds itself (403 otherwise). */
export async function createKey({ db }: Pick<Deps, 'db'>, caller: Caller, input: CreateKey): Promise<KeyWithSecret> {
  const granted = input.scopes ?? [...caller.scopes].filter((scope) => scope !== 'feed:admin');
  const foreign = granted.find((scope) => !caller.scopes.has(scope));
  if (foreign) throw appError('forbidden', `The calling key lacks the scope ${foreign} and cannot grant it.`);
  const plain = newPlainKey();
  const row = await inOrg(db, caller.orgId, async (tx) => {
    const expires_at = input.expiresAt ? new Date(input.expiresAt) : null;
    const made = await insertKey(tx, caller.orgId, {
      id: plain.id,
      name: input.name,
      secret_hash: plain.hash,
      scopes: granted,
      expires_at,
    });
    await insertAudit(tx, caller, {
      action: 'key.created',
      resourceType: 'key',
      resourceId: made.id,
      before: null,
      after: toKey(made),
    });
    return made;
  });
  return { ...toKey(row), key: plain.text };
}

export async function getKeys({ db }: Pick<Deps, 'db'>, caller: Caller, query: PageQuery): Promise<KeyList> {
  const { limit, after } = pageRequest(query, plainMark);
  const found = await inOrg(db, caller.orgId, (tx) => listKeys(tx, caller.orgId, limit, after));
  const { page, nextCursor } = pageOf(found, limit, (row) => ({ at: row.created_at, id: row.id }));
  return { keys: page.map(toKey), nextCursor };
}

/** Gives the key a new secret; the old one works for `overlapSeconds` more. */
export async function renewKey(
  { db, auth }: Pick<Deps, 'db' | 'auth'>,
  caller: Caller,
  keyId: string,
  input: RotateKey,
): Promise<KeyWithSecret> {
  const plain = newPlainKey(keyId);
  const row = await inOrg(db, caller.orgId, async (tx) => {
    const key = await changeableKey(await findKey(tx, caller.orgId, keyId), keyId);
    const previousUntil = new Date(Date.now() + (input.overlapSeconds ?? 0) * 1000);
    await rotateKey(tx, caller.orgId, keyId, { hash: plain.hash, previousUntil });
    await insertAudit(tx, caller, {
      action: 'key.rotated',
      resourceType: 'key',
      resourceId: keyId,
      before: toKey(key),
      after: toKey(key),
    });
    return key;
  });
  auth.forget(keyId);
  return { ...toKey(row), key: plain.text };
}

/** Revokes a key for good; revoking a revoked one changes nothing. */
export async function endKey({ db, auth }: Pick<Deps, 'db' | 'auth'>, caller: Caller, keyId: string): Promise<Key> {
  const ended = await inOrg(db, caller.orgId, async (tx) => {
    const key = await findKey(tx, caller.orgId, keyId);
    if (!key) throw appError('not_found', `Key ${keyId} not found.`);
    if (key.revoked_at) return key;
    await revokeKey(tx, caller.orgId, keyId);
    const after = (await findKey(tx, caller.orgId, keyId))!;
    await insertAudit(tx, caller, {
      action: 'key.revoked',
      resourceType: 'key',
      resourceId: keyId,
      before: toKey(key),
      after: toKey(after),
    });
    return after;
  });
  auth.forget(keyId);
  return toKey(ended);
}

async function changeableKey(key: KeyRow | undefined, keyId: string): Promise<KeyRow> {
  if (!key) throw appError('not_found', `Key ${keyId} not found.`);
  if (key.revoked_at) throw appError('conflict', `Key ${keyId} is revoked.`);
  if (key.from_environment)
    throw appError('conflict', 'The key of the environment is changed by the setting TOCSIN_API_KEY.');
  return key;
}

export async function getAudit({ db }: Pick<Deps, 'db'>, caller: Caller, query: PageQuery): Promise<AuditList> {
  const { limit, after } = pageRequest(query);
  const found = await inOrg(db, caller.orgId, (tx) => listAudit(tx, limit, after));
  const { page, nextCursor } = pageOf(found, limit, (row) => row);
  const entries = page.map((row) => ({
    id: row.id,
    at: row.at.toISOString(),
    keyId: row.key_id,
    action: row.action,
    resourceType: row.resource_type,
    resourceId: row.resource_id,
    before: row.before === null ? null : JSON.parse(row.before),
    after: row.after === null ? null : JSON.parse(row.after),
  }));
  return { entries, nextCursor };
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
