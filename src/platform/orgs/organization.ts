import { appError, type AppError } from '../lib/errors.ts';
import type { Organization } from './admin/admin.schema.ts';
import type { OrgReference, OrgRow } from './orgs.store.ts';

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
