import { acrossOrgs, inOrg, type Db } from '../../db/db.ts';
import type { Clock } from '../../lib/time/clock.ts';
import type { OrgId } from '../../lib/org-id.ts';
import { insertAudit } from '../audit.store.ts';
import { unknownOrganization } from '../organization.ts';
import { requireMatch } from '../record-version.ts';
import { findOrgAcrossOrgs, lockOrgAcrossOrgs, type OrgReference } from '../orgs.store.ts';
import { quotaNames, type ChangeQuotas, type OrganizationQuotas, type Quotas } from './limits.schema.ts';
import { readQuotas, storeQuotasAcrossOrgs } from './limits.store.ts';
import { listQuotaStates } from './quota-states.store.ts';

export type QuotaDeps = { db: Db; clock: Clock };

/** Returns the quotas of an organization and how much of each is used. `clock` is slot time. */
export function readOrganizationQuotas({ db, clock }: QuotaDeps, orgId: OrgId): Promise<OrganizationQuotas> {
  return inOrg(db, orgId, async (tx) => {
    const { updatedAt, ...quotas } = await readQuotas(tx, orgId);
    const states = await listQuotaStates(tx, orgId, clock());
    return { quotas, states, ...toVersion(updatedAt) };
  });
}

/** Returns the ID of an organization. Throws 404 for an unknown one. */
export async function requireOrgId(db: Db, reference: OrgReference): Promise<OrgId> {
  const org = await acrossOrgs(db, (tx) => findOrgAcrossOrgs(tx, reference));
  if (!org) throw unknownOrganization(reference);
  return org.id;
}

const toVersion = (updatedAt: Date | null) => ({ updatedAt: updatedAt?.toISOString() ?? null });

const mergeQuotas = (before: Quotas, changes: ChangeQuotas): Quotas =>
  Object.fromEntries(
    quotaNames.map((name) => [name, changes[name] === undefined ? before[name] : changes[name]]),
  ) as Quotas;

/**
 * Changes the quotas that `changes` has. Null removes one. Existing records beyond a quota stay. The audit log of the
 * organization shows the operator. Throws 404 for an unknown organization, and 412 if `ifMatch` is not the current ETag.
 */
export async function changeQuotas(
  deps: QuotaDeps,
  reference: OrgReference,
  { changes, operator, ifMatch }: { changes: ChangeQuotas; operator: string; ifMatch?: string | undefined },
): Promise<OrganizationQuotas> {
  const orgId = await acrossOrgs(deps.db, async (tx) => {
    const org = await lockOrgAcrossOrgs(tx, reference);
    if (!org) throw unknownOrganization(reference);
    const { updatedAt, ...before } = await readQuotas(tx, org.id);
    const change = { action: 'organization.quotas_changed', resourceType: 'organization', resourceId: org.id };
    const version = toVersion(updatedAt);
    await requireMatch(tx, ifMatch, version, { ...change, orgId: org.id });
    const after: Quotas = mergeQuotas(before, changes);
    if (JSON.stringify(after) === JSON.stringify(before)) return org.id;
    await storeQuotasAcrossOrgs(tx, org.id, after);
    const stored = toVersion((await readQuotas(tx, org.id)).updatedAt);
    const author = { orgId: org.id, keyId: null, subject: operator };
    await insertAudit(tx, author, { ...change, before: { ...before, ...version }, after: { ...after, ...stored } });
    return org.id;
  });
  return readOrganizationQuotas(deps, orgId);
}
