import type { App } from '../http/app-type.ts';
import { apiRoutes } from '../http/api-routes.ts';
import { changeView, createView, listViews, removeView, type ViewDeps } from './views.ts';
import { View, ViewInput, ViewList, ViewPath, ViewQuery } from './views.schema.ts';

export function viewRoutes(app: App, deps: ViewDeps): void {
  const route = apiRoutes(app, { tag: 'service', scope: 'hits:write' });
  route(
    'GET /api/views',
    {
      operationId: 'listViews',
      summary: 'List saved views, newest first',
      description:
        'Named filters of a list, shared by the organization. The service stores them and gives `query` no meaning.',
      scope: 'hits:read',
      query: ViewQuery,
      returns: ViewList,
    },
    ({ caller, query }) => listViews(deps, caller, query),
  );
  route(
    'POST /api/views',
    { operationId: 'createView', summary: 'Save a view', body: ViewInput, returns: View },
    ({ caller, body }) => createView(deps, caller, body),
  );
  route(
    'PUT /api/views/:id',
    {
      operationId: 'updateView',
      summary: 'Replace a view',
      params: ViewPath,
      body: ViewInput,
      returns: View,
      hasEtag: true,
      acceptsIfMatch: true,
    },
    ({ caller, params, body, ifMatch }) => changeView(deps, caller, params.id, { ...body, ifMatch }),
  );
  route(
    'DELETE /api/views/:id',
    { operationId: 'deleteView', summary: 'Delete a view', params: ViewPath, returns: View },
    ({ caller, params }) => removeView(deps, caller, params.id),
  );
}
