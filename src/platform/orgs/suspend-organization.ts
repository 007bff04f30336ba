import { acrossOrgs, type Db } from '../db/db.ts';
import { appError } from '../lib/errors.ts';
import type { Organization } from './admin/admin.schema.ts';
import { insertAudit } from './audit.store.ts';
import { toOrganization, unknownOrganization } from './organization.ts';
import {
  isErasureRequestedAcrossOrgs,
  lockOrgAcrossOrgs,
  setSuspendedAcrossOrgs,
  type OrgReference,
} from './orgs.store.ts';

/**
 * Suspends an organization: its requests are refused with 403, and its schedules and pulls wait. Runs that have begun end. Does nothing if
 * it is suspended. The audit log of the organization shows the operator. Throws 404 for an unknown one.
 */
export const suspendOrganization = (db: Db, reference: OrgReference, operator: string): Promise<Organization> =>
  setSuspended(db, reference, { operator, isSuspended: true });

/**
 * Ends a suspension. Work that became due in the meantime is caught up as after a downtime. Does nothing if the organization is not suspended. Throws 404 for
 * an unknown one, and 409 for one that is being deleted.
 */
export const resumeOrganization = (db: Db, reference: OrgReference, operator: string): Promise<Organization> =>
  setSuspended(db, reference, { operator, isSuspended: false });

function setSuspended(
  db: Db,
  reference: OrgReference,
  { operator, isSuspended }: { operator: string; isSuspended: boolean },
): Promise<Organization> {
  return acrossOrgs(db, async (tx) => {
    const org = await lockOrgAcrossOrgs(tx, reference);
    if (!org) throw unknownOrganization(reference);
    if (isSuspended === (org.suspended_at !== null)) return toOrganization(org);
    if (!isSuspended && (await isErasureRequestedAcrossOrgs(tx, org.id)))
      throw appError('conflict', `The organization "${org.name}" is being deleted and cannot be resumed.`);
    const changed = {
      ...org,
      suspended_at: isSuspended ? new Date() : null,
      suspended_by: isSuspended ? operator : null,
    };
    await setSuspendedAcrossOrgs(tx, changed);
    const action = isSuspended ? 'organization.suspended' : 'organization.resumed';
    const change = { action, resourceType: 'organization', resourceId: org.id, before: null, after: null };
    await insertAudit(tx, { orgId: org.id, keyId: null, subject: operator }, change);
    return toOrganization(changed);
  });
}
