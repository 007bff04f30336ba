import type { App } from '../../../platform/http/app-type.ts';
import { apiRoutes } from '../../../platform/http/api-routes.ts';
import { HitVerdict } from '../hits.schema.ts';
import {
  HitGroup,
  HitGroupChange,
  HitGroupFilter,
  HitGroupList,
  HitGroupPath,
  UndoGroupChange,
} from './groups.schema.ts';
import { getHitGroup, getHitGroups } from './read-groups.ts';
import { setGroupStatus, undoGroupStatus } from './set-group-status.ts';

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
      returns: HitGroupChange,
    },
    ({ caller, params, body }) => setGroupStatus(deps, caller, params.id, body),
  );
  route(
    'POST /api/hit-groups/:id/undo',
    {
      operationId: 'undoHitGroupStatus',
      summary: 'Undo a change of the status of a group',
      description: 'Hits that changed again afterwards keep their status.',
      scope: 'hits:write',
      params: HitGroupPath,
      body: UndoGroupChange,
      returns: HitGroupChange,
    },
    ({ caller, params, body }) => undoGroupStatus(deps, caller, params.id, body.change),
  );
}
