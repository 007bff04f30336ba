import type { App } from '../http/app-type.ts';
import { adminRoutes, apiRoutes } from '../http/api-routes.ts';
import { OrganizationPath } from '../orgs/admin.schema.ts';
import { requireOrgId } from '../orgs/limits/quotas.ts';
import { eraseValue, type EraseValueDeps } from './erase-value.ts';
import { chooseRetention, limitRetention, readOrganizationRetention, type RetentionDeps } from './retention.ts';
import { ChangeRetention, Erasure, EraseRequest, OrganizationRetention } from './retention.schema.ts';

export function retentionRoutes(app: App, deps: EraseValueDeps & RetentionDeps & { operator: string }): void {
  const route = apiRoutes(app, { tag: 'service', scope: 'privacy:admin' });
  route(
    'POST /api/privacy/erase',
    { operationId: 'eraseValue', summary: 'Erase a value from all stored data', body: EraseRequest, returns: Erasure },
    ({ caller, body }) => eraseValue(deps, caller, body),
  );
  route(
    'GET /api/privacy/retention',
    {
      operationId: 'getRetention',
      summary: 'Get how long each kind of data is kept',
      scope: 'detections:read',
      returns: OrganizationRetention,
      hasEtag: true,
    },
    async ({ caller }) => readOrganizationRetention(deps, caller.orgId),
  );
  route(
    'PUT /api/privacy/retention',
    {
      operationId: 'changeRetention',
      summary: 'Change how long each kind of data is kept',
      description:
        'Periods that the body leaves out stay as they are, and null is as long as the operator allows. Data beyond a shorter period is deleted within an hour.',
      acceptsIfMatch: true,
      body: ChangeRetention,
      returns: OrganizationRetention,
      hasEtag: true,
    },
    async ({ caller, body, ifMatch }) => {
      const change = { changes: body, ifMatch };
      return chooseRetention(deps, caller, change);
    },
  );
  administrationRoutes(app, deps);
}

function administrationRoutes(app: App, deps: RetentionDeps & { operator: string }): void {
  const route = adminRoutes(app, 'admin');
  route(
    'GET /api/admin/organizations/:id/retention',
    {
      operationId: 'getOrganizationRetention',
      summary: 'Get how long data of an organization is kept',
      params: OrganizationPath,
      returns: OrganizationRetention,
      hasEtag: true,
    },
    async ({ params }) => readOrganizationRetention(deps, await requireOrgId(deps.db, params)),
  );
  route(
    'PUT /api/admin/organizations/:id/retention',
    {
      operationId: 'limitOrganizationRetention',
      summary: 'Change how long an organization may keep its data',
      description:
        'The organization may choose shorter periods. Periods that the body leaves out stay as they are, and null is the setting of the service. Data beyond a shorter period is deleted within an hour.',
      acceptsIfMatch: true,
      params: OrganizationPath,
      body: ChangeRetention,
      returns: OrganizationRetention,
      hasEtag: true,
    },
    async ({ params, body, ifMatch }) => {
      const change = { changes: body, operator: deps.operator, ifMatch };
      return limitRetention(deps, params, change);
    },
  );
}
