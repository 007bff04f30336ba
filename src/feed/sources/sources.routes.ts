import { z } from 'zod';
import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { uuidPattern } from '../../platform/lib/org-id.ts';
import { PageQuery } from '../../platform/lib/page-request.ts';
import { SourceCatalog, listCatalog } from './catalog.ts';
import {
  CreateSource,
  PullOutcome,
  Source,
  SourceList,
  SourceTest,
  TestSource,
  UpdateSource,
} from './sources.schema.ts';
import type { DiskGuard } from '../../platform/lib/storage/disk-guard.ts';
import {
  createSource,
  type CreateSourceDeps,
  deleteSource,
  updateSource,
  type UpdateSourceDeps,
} from './update-source.ts';
import { getSource, listSources } from './source-access.ts';
import { testSource, type TestSourceDeps } from './test-source.ts';
import { pullSourceNow, type StartPullsDeps } from './pull/start-pulls.ts';

const SourcePath = z.object({ id: z.string().regex(uuidPattern, 'must be a UUID') });

type SourceRoutesDeps = CreateSourceDeps &
  UpdateSourceDeps &
  StartPullsDeps &
  TestSourceDeps & { diskGuard: DiskGuard };

export function sourceRoutes(app: App, deps: SourceRoutesDeps): void {
  const route = apiRoutes(app, { tag: 'sources', scope: 'feed:write' });
  route(
    'GET /api/feed/sources',
    {
      operationId: 'listSources',
      summary: 'List feed sources',
      scope: 'feed:read',
      query: PageQuery,
      returns: SourceList,
    },
    ({ caller, query }) => listSources(deps, caller, query),
  );
  route(
    'POST /api/feed/sources',
    {
      operationId: 'createSource',
      summary: 'Create a feed source',
      body: CreateSource,
      returns: Source,
      hasEtag: true,
    },
    ({ caller, body }) => createSource(deps, caller, body),
  );
  route(
    'POST /api/feed/sources/test',
    {
      operationId: 'testSource',
      summary: 'Test a feed source without storing anything',
      body: TestSource,
      returns: SourceTest,
    },
    ({ caller, body }) => testSource(deps, caller, body),
  );
  route(
    'GET /api/feed/catalogue',
    {
      operationId: 'listCatalogue',
      summary: 'List well-known public sources',
      scope: 'feed:read',
      returns: SourceCatalog,
    },
    async () => listCatalog(),
  );
  route(
    'GET /api/feed/sources/:id',
    {
      operationId: 'getSource',
      summary: 'Get a feed source',
      scope: 'feed:read',
      params: SourcePath,
      returns: Source,
      hasEtag: true,
    },
    ({ caller, params }) => getSource(deps, caller, params.id.toLowerCase()),
  );
  route(
    'PUT /api/feed/sources/:id',
    {
      operationId: 'updateSource',
      summary: 'Update a feed source',
      params: SourcePath,
      body: UpdateSource,
      returns: Source,
      hasEtag: true,
      acceptsIfMatch: true,
    },
    ({ caller, params, body, ifMatch }) => {
      const input = { change: body, ifMatch };
      return updateSource(deps, caller, params.id.toLowerCase(), input);
    },
  );
  route(
    'DELETE /api/feed/sources/:id',
    {
      operationId: 'deleteSource',
      summary: 'Delete a feed source. Its items remain',
      params: SourcePath,
      returns: Source,
    },
    ({ caller, params }) => deleteSource(deps, caller, params.id.toLowerCase()),
  );
  route(
    'POST /api/feed/sources/:id/pull',
    { operationId: 'pullSource', summary: 'Pull a feed source now', params: SourcePath, returns: PullOutcome },
    async ({ caller, params }) => {
      await deps.diskGuard.requireSpace();
      return pullSourceNow(deps, caller, params.id.toLowerCase());
    },
  );
}
