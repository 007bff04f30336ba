import type { App } from '../../http/app-type.ts';
import { adminRoutes, apiRoutes } from '../../http/api-routes.ts';
import { OrganizationPath } from '../admin.schema.ts';
import { ChangeQuotas, OrganizationQuotas } from './limits.schema.ts';
import { changeQuotas, readOrganizationQuotas, requireOrgId, type QuotaDeps } from './quotas.ts';

/** Registers the quotas of organizations: for the operator, and for the organization itself, which cannot change them. */
export function limitRoutes(app: App, deps: QuotaDeps & { operator: string }): void {
  const route = adminRoutes(app, 'admin');
  route(
    'GET /api/admin/organizations/:id/quotas',
    {
      operationId: 'getOrganizationQuotas',
      summary: 'Get the quotas of an organization and how much of them is used',
      params: OrganizationPath,
      returns: OrganizationQuotas,
      hasEtag: true,
    },
    async ({ params }) => readOrganizationQuotas(deps, await requireOrgId(deps.db, params)),
  );
  route(
    'PUT /api/admin/organizations/:id/quotas',
    {
      operationId: 'changeOrganizationQuotas',
      summary: 'Change the quotas of an organization',
      description:
        'Quotas that the body leaves out stay as they are, and null removes one. An organization that is already above a quota keeps what it has, but cannot add more.',
      acceptsIfMatch: true,
      params: OrganizationPath,
      body: ChangeQuotas,
      returns: OrganizationQuotas,
      hasEtag: true,
    },
    async ({ params, body, ifMatch }) => {
      const options = { changes: body, operator: deps.operator, ifMatch };
      return changeQuotas(deps, params, options);
    },
  );
  apiRoutes(app, { tag: 'service', scope: 'detections:read' })(
    'GET /api/quotas',
    {
      operationId: 'getQuotas',
      summary: 'Get the quotas of the organization and how much of them is used',
      returns: OrganizationQuotas,
    },
    ({ caller }) => readOrganizationQuotas(deps, caller.orgId),
  );
}
