import { Readable } from 'node:stream';
import { z } from 'zod';
import type { App } from '../http/app-type.ts';
import { adminRoutes, apiRoutes } from '../http/api-routes.ts';
import { PageQuery } from '../lib/page-request.ts';
import {
  CreateOrganizationInput,
  Erasure,
  ErasureList,
  Organization,
  OrganizationDetails,
  OrganizationList,
  OrganizationQuery,
  OrganizationWithKey,
  ReplaceTags,
  OrganizationPath,
  UsageDays,
  UsageExportQuery,
  UsageQuery,
} from './admin.schema.ts';
import { changeOrganizationTags, versionOfTags, resumeOrganization, suspendOrganization } from './organization.ts';
import {
  createOrganizationWithKey,
  listOrganizations,
  readOrganization,
  type AdminDeps,
} from './administer-organizations.ts';
import type { OrgId } from '../lib/org-id.ts';

const Path = z.object({ id: z.uuid() });

/** Registers the administration of organizations, which needs the key of the installation. */
export function organizationRoutes(app: App, deps: AdminDeps): void {
  const route = adminRoutes(app, 'admin');
  route(
    'GET /api/admin/organizations',
    {
      operationId: 'listOrganizations',
      summary: 'List organizations',
      query: OrganizationQuery,
      returns: OrganizationList,
    },
    ({ query }) => listOrganizations(deps, query),
  );
  route(
    'POST /api/admin/organizations',
    {
      operationId: 'createOrganization',
      summary: 'Create an organization with its first key',
      secretField: 'key',
      body: CreateOrganizationInput,
      returns: OrganizationWithKey,
    },
    ({ body }) => createOrganizationWithKey(deps, body),
  );
  route(
    'GET /api/admin/organizations/:id',
    {
      operationId: 'getOrganization',
      summary: 'Get an organization with what it uses',
      params: Path,
      returns: OrganizationDetails,
      versionOf: versionOfTags,
    },
    ({ params }) => readOrganization(deps, params.id),
  );
  route(
    'PUT /api/admin/organizations/:id/tags',
    {
      operationId: 'replaceOrganizationTags',
      summary: 'Replace the tags of an organization',
      description: 'Detection packs select organizations by their tags, from the next time that a pack is applied.',
      acceptsIfMatch: true,
      params: Path,
      body: ReplaceTags,
      returns: Organization,
      versionOf: versionOfTags,
    },
    ({ params, body, ifMatch }) => {
      const { operator } = deps;
      return changeOrganizationTags(deps.db, params, { change: () => body.tags, operator, ifMatch });
    },
  );
  route(
    'POST /api/admin/organizations/:id/suspend',
    {
      operationId: 'suspendOrganization',
      summary: 'Suspend an organization',
      description: 'Its requests are refused and its schedules wait. Nothing is deleted.',
      params: Path,
      returns: Organization,
    },
    ({ params }) => suspendOrganization(deps.db, params, deps.operator),
  );
  route(
    'POST /api/admin/organizations/:id/resume',
    {
      operationId: 'resumeOrganization',
      summary: 'End the suspension of an organization',
      description: 'Runs that were due during the suspension start now, as after a downtime.',
      params: Path,
      returns: Organization,
    },
    ({ params }) => resumeOrganization(deps.db, params, deps.operator),
  );
  route(
    'DELETE /api/admin/organizations/:id',
    {
      operationId: 'deleteOrganization',
      summary: 'Delete a suspended organization',
      description: 'A worker erases its rows and log files. The record says when it has finished.',
      params: Path,
      returns: Erasure,
    },
    ({ params }) => deps.requestErasure(params.id),
  );
  route(
    'GET /api/admin/erasures',
    { operationId: 'listErasures', summary: 'List deleted organizations', query: PageQuery, returns: ErasureList },
    ({ query }) => deps.listErasures(query),
  );
  route(
    'GET /api/admin/erasures/:id',
    {
      operationId: 'getErasure',
      summary: 'Get what was erased of a deleted organization',
      params: Path,
      returns: Erasure,
    },
    ({ params }) => deps.readErasure(params.id),
  );
}

type UsageRoutesDeps = {
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
