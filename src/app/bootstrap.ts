import { sql } from 'kysely';
import { acrossOrgs, row, type Db, type Tx } from '../platform/db/db.ts';
import { insertBuiltInAgents } from '../detection/detections/built-in-agents/built-in-agents.ts';
import type { Clock } from '../platform/lib/clock.ts';
import { appError } from '../platform/lib/errors.ts';
import { uuidv7 } from '../platform/lib/ids.ts';
import { orgId, type OrgId } from '../platform/lib/org-id.ts';
import { insertAudit } from '../platform/orgs/audit.store.ts';
import { scopes } from '../platform/orgs/caller.ts';
import { environmentKeyId, hashOf, newPlainKey, sameHash } from '../platform/orgs/key-secret.ts';
import { findOrgAcrossOrgs, insertKey, insertOrgAcrossOrgs } from '../platform/orgs/orgs.store.ts';

type SetupDeps = { db: Db; clock: Clock };

/** Makes an organization with its built-in agents. A name that is taken: conflict. */
export async function createOrganization({ db, clock }: SetupDeps, name: string): Promise<{ id: OrgId; name: string }> {
  return acrossOrgs(db, async (tx) => {
    const id = await insertOrganizationAcrossOrgs(tx, clock, name);
    if (!id) throw appError('conflict', `An organization "${name}" exists.`);
    return { id, name };
  });
}

async function insertOrganizationAcrossOrgs(tx: Tx, clock: Clock, name: string): Promise<OrgId | undefined> {
  const id = orgId(uuidv7());
  if (!(await insertOrgAcrossOrgs(tx, { id, name }))) return undefined;
  await insertAudit(
    tx,
    { orgId: id, keyId: null },
    { action: 'organization.created', resourceType: 'organization', resourceId: id, before: null, after: { id, name } },
  );
  await insertBuiltInAgents(tx, id, clock());
  return id;
}

/**
 * Makes the organization `default` where it is missing, with an administrator key where the environment gives none.
 * Answers that key, once; undefined on every later start. Several processes may start at the same time.
 */
export async function prepareDefault(
  { db, clock }: SetupDeps,
  environmentKey: string | undefined,
): Promise<string | undefined> {
  return acrossOrgs(db, async (tx) => {
    await sql`select pg_advisory_xact_lock(8423002)`.execute(tx);
    const found = (await findOrgAcrossOrgs(tx, 'default'))?.id;
    const id = found ?? (await insertOrganizationAcrossOrgs(tx, clock, 'default'))!;
    await syncEnvironmentKeyAcrossOrgs(tx, id, environmentKey);
    if (found || environmentKey !== undefined) return undefined;
    const plain = newPlainKey();
    await insertKey(tx, id, {
      id: plain.id,
      name: 'administrator',
      secret_hash: plain.hash,
      scopes: [...scopes],
      expires_at: null,
    });
    return plain.text;
  });
}

/** The environment's key is one: a changed value replaces the old one, and none in the environment ends it. */
async function syncEnvironmentKeyAcrossOrgs(tx: Tx, id: OrgId, text: string | undefined): Promise<void> {
  const old = await row<{ secret_hash: Buffer }>(
    tx,
    sql<{ secret_hash: Buffer }>`select secret_hash from api_keys where id = ${environmentKeyId}`,
  );
  const hash = text === undefined ? undefined : hashOf(text);
  if (old && hash && sameHash(old.secret_hash, hash)) return;
  if (!old && !hash) return;
  await sql`delete from api_keys where id = ${environmentKeyId}`.execute(tx);
  if (hash) {
    await insertKey(tx, id, {
      id: environmentKeyId,
      name: 'TOCSIN_API_KEY',
      secret_hash: hash,
      scopes: [...scopes],
      expires_at: null,
      from_environment: true,
    });
  }
  const action = hash ? 'key.set_by_environment' : 'key.removed_by_environment';
  await insertAudit(
    tx,
    { orgId: id, keyId: null },
    { action, resourceType: 'key', resourceId: environmentKeyId, before: null, after: null },
  );
}
