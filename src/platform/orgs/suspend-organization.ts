import { acrossOrgs, type Db } from '../db/db.ts';
import type { Organization } from './admin/admin.schema.ts';
import { insertAudit } from './audit.store.ts';
import { toOrganization, unknownOrganization } from './organization.ts';
import { setSuspendedAcrossOrgs, type OrgReference } from './orgs.store.ts';

/**
 * Suspends an organization: its requests are refused with 403, and its schedules and pulls wait. Runs that have begun end. Does nothing if
 * it is suspended. Throws 404 for an unknown one.
 */
export const suspendOrganization = (db: Db, reference: OrgReference): Promise<Organization> =>
  setSuspended(db, reference, true);

/**
 * Ends a suspension. What was due meanwhile is made up as after a downtime. Does nothing if the organization is not suspended. Throws 404 for
 * an unknown one.
 */
export const resumeOrganization = (db: Db, reference: OrgReference): Promise<Organization> =>
  setSuspended(db, reference, false);

function setSuspended(db: Db, reference: OrgReference, isSuspended: boolean): Promise<Organization> {
  return acrossOrgs(db, async (tx) => {
    const now = new Date();
    const before = await setSuspendedAcrossOrgs(tx, reference, isSuspended ? now : null);
    if (!before) throw unknownOrganization(reference);
    const { id, suspended_at: since } = before;
    if (isSuspended === (since === null)) {
      const action = isSuspended ? 'organization.suspended' : 'organization.resumed';
      const change = { action, resourceType: 'organization', resourceId: id, before: null, after: null };
      await insertAudit(tx, { orgId: id, keyId: null }, change);
    }
    return toOrganization({ ...before, suspended_at: isSuspended ? (since ?? now) : null });
  });
}
