import { Readable } from 'node:stream';
import { z } from 'zod';
import { adminRoutes } from '../../http/admin-routes.ts';
import { apiRoutes } from '../../http/api-routes.ts';
import type { App } from '../../http/app-type.ts';
import type { OrgId } from '../../lib/org-id.ts';
import { OrganizationPath } from './admin.schema.ts';
import { UsageDays, UsageExportQuery, UsageQuery } from './usage.schema.ts';

export type UsageRoutesDeps = {
  /** Returns the ID of an organization. Throws 404 for an unknown one. */
  requireOrgId: (reference: { id: string }) => Promise<OrgId>;
  readUsageDays: (orgId: OrgId, query: UsageQuery) => Promise<UsageDays>;
  exportUsage: (query: UsageExportQuery) => AsyncGenerator<string>;
};

const types = { ndjson: 'application/x-ndjson', csv: 'text/csv; charset=utf-8' };
const text = { schema: z.string() };

/** Registers what organizations use by day: for the operator, and for the organization itself. */
export function usageRoutes(app: App, { requireOrgId, readUsageDays, exportUsage }: UsageRoutesDeps): void {
  const description =
    'Oldest day first, with a day for each of the range, at most 400. Requests, query time and feed items are counted in memory and written every few seconds; a crash loses the last of them. The other figures are exact.';
  apiRoutes(app, { tag: 'service', scope: 'detections:read' })(
    'GET /api/usage',
    {
      operationId: 'listOwnUsageDays',
      summary: 'List what the organization used by day',
      description,
      query: UsageQuery,
      returns: UsageDays,
    },
    ({ caller, query }) => readUsageDays(caller.orgId, query),
  );
  adminRoutes(app, 'admin')(
    'GET /api/admin/organizations/:id/usage',
    {
      operationId: 'listUsageDays',
      summary: 'List what an organization used by day',
      description,
      params: OrganizationPath,
      query: UsageQuery,
      returns: UsageDays,
    },
    async ({ params, query }) => readUsageDays(await requireOrgId(params), query),
  );
  app.route({
    method: 'GET',
    url: '/api/admin/usage',
    config: { isAdmin: true },
    schema: {
      operationId: 'exportUsage',
      tags: ['admin'],
      summary: 'Export what all organizations used by day',
      description:
        'A line for each organization and day of the range, as JSON or CSV. Each is a `UsageDay` with `organizationId` and `organization`.',
      querystring: UsageExportQuery,
      response: { 200: { description: 'OK', content: { 'application/x-ndjson': text, 'text/csv': text } } },
    },
    handler: (request, reply) =>
      reply
        .type(types[request.query.format ?? 'ndjson'])
        .send(Readable.from(exportUsage(request.query)) as never) as never,
  });
}
