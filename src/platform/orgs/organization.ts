import { appError, type AppError } from '../lib/errors.ts';
import type { Organization } from './admin.schema.ts';
import {
  type OrgReference,
  type OrgRow,
  isErasureRequestedAcrossOrgs,
  lockOrgAcrossOrgs,
  setSuspendedAcrossOrgs,
  setTagsAcrossOrgs,
} from './orgs.store.ts';
import { acrossOrgs, type Db } from '../db/db.ts';
import { insertAudit } from './audit.store.ts';
import { contentVersion, type RecordVersion } from '../http/etag.ts';
import { requireMatch } from './record-version.ts';

/** Returns an organization as operators see it. */
export const toOrganization = ({ id, name, created_at, suspended_at, suspended_by, tags }: OrgRow): Organization => ({
  id,
  name,
  createdAt: created_at.toISOString(),
  suspendedAt: suspended_at?.toISOString() ?? null,
  suspendedBy: suspended_by,
  tags,
});

/** The 403 for requests and sign-ins of a suspended organization. */
export const suspendedError = (): AppError =>
  appError(
    'organization_suspended',
    'The organization is suspended. Nothing is deleted. Ask the operator of this service to resume it.',
  );

/** The 404 for an organization that does not exist. */
export const unknownOrganization = (reference: OrgReference): AppError =>
  appError('not_found', `Organization ${'id' in reference ? reference.id : `"${reference.name}"`} not found.`);

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

/** The version of an organization's tags is their content. */
export const versionOfTags = ({ tags }: { tags: readonly string[] }): RecordVersion => contentVersion(tags);

type TagsChange = {
  change: (tags: readonly string[]) => readonly string[];
  operator: string;
  ifMatch?: string | undefined;
};

/**
 * Replaces the tags of an organization by those that `change` returns for the current ones. Does nothing if they are the same. The audit log of
 * the organization shows the operator. Throws 404 for an unknown organization, 412 if `ifMatch` is not the ETag of the tags, and what `change`
 * throws.
 */
export function changeOrganizationTags(
  db: Db,
  reference: OrgReference,
  { change, operator, ifMatch }: TagsChange,
): Promise<Organization> {
  return acrossOrgs(db, async (tx) => {
    const org = await lockOrgAcrossOrgs(tx, reference);
    if (!org) throw unknownOrganization(reference);
    const resource = { resourceType: 'organization', resourceId: org.id };
    const action = 'organization.tags_changed';
    await requireMatch(tx, ifMatch, versionOfTags(org), { ...resource, action, orgId: org.id });
    const tags = [...new Set(change(org.tags))].toSorted();
    if (tags.join() === org.tags.join()) return toOrganization(org);
    await setTagsAcrossOrgs(tx, org.id, tags);
    await insertAudit(
      tx,
      { orgId: org.id, keyId: null, subject: operator },
      {
        action,
        ...resource,
        before: { name: org.name, tags: org.tags, ...versionOfTags(org) },
        after: { name: org.name, tags, ...versionOfTags({ tags }) },
      },
    );
    return toOrganization({ ...org, tags });
  });
}
