import { acrossOrgs, type Db, type Tx } from '../platform/db/db.ts';
import { insertBuiltInAgents } from '../detection/detections/built-in-agents.ts';
import type { Clock } from '../platform/lib/time/clock.ts';
import { appError } from '../platform/lib/errors.ts';
import { uuidv7 } from '../platform/lib/ids.ts';
import { toOrgId, type OrgId } from '../platform/lib/org-id.ts';
import { insertAudit } from '../platform/orgs/audit.store.ts';
import { boundCredential, environmentKeyId, hashKey, generateKey, equalHashes } from '../platform/orgs/credentials.ts';
import { operatorOf, scopes } from '../platform/http/caller.ts';
import { createSignInLink } from '../platform/orgs/sessions/sessions.ts';
import {
  deleteEnvironmentKeyAcrossOrgs,
  findEnvironmentKeyHashAcrossOrgs,
  findOrgAcrossOrgs,
  insertKey,
  insertOrgAcrossOrgs,
  lockBootstrapAcrossOrgs,
} from '../platform/orgs/orgs.store.ts';

type BootstrapDeps = { db: Db; clock: Clock };

/** Creates an organization with its built-in agents. Throws 409 if the name is taken. */
export async function createOrganization(
  { db, clock }: BootstrapDeps,
  name: string,
): Promise<{ id: OrgId; name: string }> {
  return acrossOrgs(db, async (tx) => {
    const id = await insertOrganizationAcrossOrgs(tx, clock, name);
    if (!id) throw appError('conflict', `An organization named "${name}" already exists.`);
    return { id, name };
  });
}

async function insertOrganizationAcrossOrgs(tx: Tx, clock: Clock, name: string): Promise<OrgId | undefined> {
  const id = toOrgId(uuidv7());
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
 * Creates the organization `default` if it is missing, with an administrator key unless TOCSIN_API_KEY is set. Returns the new key's
 * text on the first start and undefined on later ones. Several processes may start at the same time.
 */
export async function bootstrapDefaultOrganization(
  { db, clock }: BootstrapDeps,
  environmentKey: string | undefined,
): Promise<string | undefined> {
  return acrossOrgs(db, async (tx) => {
    await lockBootstrapAcrossOrgs(tx);
    const existingId = (await findOrgAcrossOrgs(tx, { name: 'default' }))?.id;
    const id = existingId ?? (await insertOrganizationAcrossOrgs(tx, clock, 'default'))!;
    await syncEnvironmentKeyAcrossOrgs(tx, id, environmentKey);
    if (existingId || environmentKey !== undefined) return undefined;
    const key = generateKey();
    await insertKey(tx, boundCredential(operatorOf(id), { scopes }), {
      id: key.id,
      name: 'administrator',
      secret_hash: key.hash,
    });
    return key.text;
  });
}

/** Returns the address of the console that signs in once as administrator of the organization `default`. */
export async function createConsoleLink(db: Db, address: string): Promise<string> {
  const org = await acrossOrgs(db, (tx) => findOrgAcrossOrgs(tx, { name: 'default' }));
  return `${address}/console/sign-in#${await createSignInLink(db, operatorOf(org!.id), scopes)}`;
}

/** Stores the key from the environment. A changed value replaces the old key, and a missing value deletes it. */
async function syncEnvironmentKeyAcrossOrgs(tx: Tx, id: OrgId, text: string | undefined): Promise<void> {
  const storedHash = await findEnvironmentKeyHashAcrossOrgs(tx);
  const hash = text === undefined ? undefined : hashKey(text);
  if (storedHash && hash && equalHashes(storedHash, hash)) return;
  if (!storedHash && !hash) return;
  await deleteEnvironmentKeyAcrossOrgs(tx);
  if (hash) {
    await insertKey(tx, boundCredential(operatorOf(id), { scopes }), {
      id: environmentKeyId,
      name: 'TOCSIN_API_KEY',
      secret_hash: hash,
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
