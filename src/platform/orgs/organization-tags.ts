import { acrossOrgs, type Db } from '../db/db.ts';
import { contentVersion, type RecordVersion } from '../http/responses/etag.ts';
import type { Organization } from './admin/admin.schema.ts';
import { insertAudit } from './audit.store.ts';
import { toOrganization, unknownOrganization } from './organization.ts';
import { requireMatch } from './record-version.ts';
import { lockOrgAcrossOrgs, setTagsAcrossOrgs, type OrgReference } from './orgs.store.ts';

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
