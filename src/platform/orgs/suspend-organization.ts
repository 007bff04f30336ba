import { acrossOrgs, type Db } from '../db/db.ts';
import { appError } from '../lib/errors.ts';
import type { OrgId } from '../lib/org-id.ts';
import { insertAudit } from './audit.store.ts';
import { setSuspendedAcrossOrgs } from './orgs.store.ts';

/** An organization as operators see it. */
export type Organization = { id: OrgId; name: string; createdAt: string; suspendedAt: string | null };

/**
 * Suspends an organization: its requests are refused with 403, and its schedules and pulls wait. Runs that have begun end. Does nothing if
 * it is suspended. Throws 404 for an unknown name.
 */
export const suspendOrganization = (db: Db, name: string): Promise<Organization> => setSuspended(db, name, true);

/** Ends a suspension. What was due meanwhile is made up as after a downtime. Does nothing if the organization is not suspended. */
export const resumeOrganization = (db: Db, name: string): Promise<Organization> => setSuspended(db, name, false);

function setSuspended(db: Db, name: string, isSuspended: boolean): Promise<Organization> {
  return acrossOrgs(db, async (tx) => {
    const now = new Date();
    const before = await setSuspendedAcrossOrgs(tx, name, isSuspended ? now : null);
    if (!before) throw appError('not_found', `Organization "${name}" not found.`);
    const { id, suspended_at: since } = before;
    if (isSuspended === (since === null)) {
      const action = isSuspended ? 'organization.suspended' : 'organization.resumed';
      const change = { action, resourceType: 'organization', resourceId: id, before: null, after: null };
      await insertAudit(tx, { orgId: id, keyId: null }, change);
    }
    const suspendedAt = isSuspended ? (since ?? now).toISOString() : null;
    return { id, name: before.name, createdAt: before.created_at.toISOString(), suspendedAt };
  });
}
