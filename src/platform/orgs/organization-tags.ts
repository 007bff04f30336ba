import { acrossOrgs, type Db } from '../db/db.ts';
import type { Organization } from './admin/admin.schema.ts';
import { insertAudit } from './audit.store.ts';
import { toOrganization, unknownOrganization } from './organization.ts';
import { lockOrgAcrossOrgs, setTagsAcrossOrgs, type OrgReference } from './orgs.store.ts';

/**
 * Replaces the tags of an organization by those that `change` returns for the current ones. Does nothing if they are the same. The audit log of
 * the organization shows the operator. Throws 404 for an unknown organization, and what `change` throws.
 */
export function changeOrganizationTags(
  db: Db,
  reference: OrgReference,
  { change, operator }: { change: (tags: readonly string[]) => readonly string[]; operator: string },
): Promise<Organization> {
  return acrossOrgs(db, async (tx) => {
    const org = await lockOrgAcrossOrgs(tx, reference);
    if (!org) throw unknownOrganization(reference);
    const tags = [...new Set(change(org.tags))].toSorted();
    if (tags.join() === org.tags.join()) return toOrganization(org);
    await setTagsAcrossOrgs(tx, org.id, tags);
    await insertAudit(
      tx,
      { orgId: org.id, keyId: null, subject: operator },
      {
        action: 'organization.tags_changed',
        resourceType: 'organization',
        resourceId: org.id,
        before: { name: org.name, tags: org.tags },
        after: { name: org.name, tags },
      },
    );
    return toOrganization({ ...org, tags });
  });
}
