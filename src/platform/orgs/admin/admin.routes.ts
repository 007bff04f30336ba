import { z } from 'zod';
import type { App } from '../../http/app-type.ts';
import { adminRoutes } from '../../http/admin-routes.ts';
import { PageQuery } from '../../lib/page-request.ts';
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
} from './admin.schema.ts';
import { changeOrganizationTags, versionOfTags } from '../organization-tags.ts';
import { resumeOrganization, suspendOrganization } from '../suspend-organization.ts';
import { createOrganizationWithKey, listOrganizations, readOrganization, type AdminDeps } from './organizations.ts';

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
    ({ params, body, request }) => {
      const { operator } = deps;
      const ifMatch = request.headers['if-match'];
      return changeOrganizationTags(deps.db, params, { change: () => body.tags, operator, ifMatch });
    },
  );
  route(
    'POST /api/admin/organizations/:id/suspend',
    {
      operationId: 'suspendOrganization',
      summary: 'Suspend an organization',
      description: 'Its requests are refused and its schedules wait. Nothing is deleted.',
      ignoresBody: true,
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
      description: 'What was due meanwhile runs as after a downtime.',
      ignoresBody: true,
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
      ignoresBody: true,
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
