import { hostname } from 'node:os';
import { acrossOrgs, type Db } from '../db/db.ts';
import { readPageRequest, toPage, type PageQuery } from '../lib/page-request.ts';
import type { OrgId } from '../lib/org-id.ts';
import { operatorOf } from '../http/caller.ts';
import { createKey } from './keys.ts';
import { toOrganization, unknownOrganization, changeOrganizationTags } from './organization.ts';
import { findOrgAcrossOrgs, listOrgPageAcrossOrgs } from './orgs.store.ts';
import type {
  CreateOrganizationInput,
  Erasure,
  ErasureList,
  Organization,
  OrganizationDetails,
  OrganizationList,
  OrganizationQuery,
  OrganizationUsage,
  OrganizationWithKey,
} from './admin.schema.ts';
import { hashKey } from './credentials.ts';

export type AdminDeps = {
  db: Db;
  /** The name of the installation's key in records. */
  operator: string;
  /** Creates an organization with its built-in agents. Throws 409 if the name is taken. */
  createOrganization: (name: string) => Promise<{ id: OrgId; name: string }>;
  readUsage: (orgId: OrgId) => Promise<OrganizationUsage>;
  /** Requests the deletion of a suspended organization. Throws 409 for another, and 404 for an unknown ID. */
  requestErasure: (orgId: string) => Promise<Erasure>;
  listErasures: (query: PageQuery) => Promise<ErasureList>;
  /** Throws 404 if the deletion was never requested. */
  readErasure: (orgId: string) => Promise<Erasure>;
};

/** Creates an organization and its first key, with every scope except the one for the shared feed. */
export async function createOrganizationWithKey(
  deps: AdminDeps,
  { name, tags = [] }: CreateOrganizationInput,
): Promise<OrganizationWithKey> {
  const { id } = await deps.createOrganization(name);
  await changeOrganizationTags(deps.db, { id }, { change: () => tags, operator: deps.operator });
  const { key } = await createKey(deps, operatorOf(id), { name: 'administrator' });
  return { ...(await requireOrganization(deps, id)), key };
}

/** Returns a page of all organizations, newest first. */
export async function listOrganizations({ db }: AdminDeps, query: OrganizationQuery): Promise<OrganizationList> {
  const { limit, after } = readPageRequest(query);
  const rows = await acrossOrgs(db, (tx) => listOrgPageAcrossOrgs(tx, { limit, after, tag: query.tag }));
  const { page, nextCursor } = toPage(rows, limit, (row) => ({ at: row.created_at, id: row.id }));
  return { organizations: page.map(toOrganization), nextCursor };
}

/** Returns an organization with what it uses. Throws 404 for an unknown ID. */
export async function readOrganization(deps: AdminDeps, id: string): Promise<OrganizationDetails> {
  const organization = await requireOrganization(deps, id);
  return { ...organization, usage: await deps.readUsage(organization.id) };
}

/** Returns the organization with this ID. Throws 404 if there is none. */
async function requireOrganization({ db }: Pick<AdminDeps, 'db'>, id: string): Promise<Organization & { id: OrgId }> {
  const row = await acrossOrgs(db, (tx) => findOrgAcrossOrgs(tx, { id }));
  if (!row) throw unknownOrganization({ id });
  return { ...toOrganization(row), id: row.id };
}

/** Returns the name of the installation's key in records: the first 8 hexadecimal digits of its SHA-256 hash. */
export const nameAdminKey = (key: string | undefined): string =>
  `installation key ${hashKey(key ?? '')
    .toString('hex')
    .slice(0, 8)}`;

/** Returns the name in records of a command that ran on this machine. */
export const nameCommand = (command: string): string => `${command} on ${hostname()}`;
