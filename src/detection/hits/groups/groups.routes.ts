import type { App } from '../../../platform/http/app-type.ts';
import { apiRoutes } from '../../../platform/http/api-routes.ts';
import { HitVerdict } from '../hits.schema.ts';
import { HitGroup, HitGroupFilter, HitGroupList, HitGroupPath } from './groups.schema.ts';
import { getHitGroup, getHitGroups } from './read-groups.ts';
import { setGroupStatus } from './set-group-status.ts';

export function hitGroupRoutes(app: App, deps: Parameters<typeof setGroupStatus>[0]): void {
  const route = apiRoutes(app, { tag: 'hits', scope: 'hits:read' });
  route(
    'GET /api/hit-groups',
    {
      operationId: 'listHitGroups',
      summary: 'List the groups of hits that one detection raised in one window, newest first',
      query: HitGroupFilter,
      returns: HitGroupList,
    },
    ({ caller, query }) => getHitGroups(deps, caller, query),
  );
  route(
    'GET /api/hit-groups/:id',
    { operationId: 'getHitGroup', summary: 'Get a group of hits', params: HitGroupPath, returns: HitGroup },
    ({ caller, params }) => getHitGroup(deps, caller, params.id),
  );
  route(
    'POST /api/hit-groups/:id/status',
    {
      operationId: 'setHitGroupStatus',
      summary: 'Set the status of every hit of a group',
      scope: 'hits:write',
      params: HitGroupPath,
      body: HitVerdict,
      returns: HitGroup,
    },
    ({ caller, params, body }) => setGroupStatus(deps, caller, params.id, body),
  );
}
