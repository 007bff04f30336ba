import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { PageQuery } from '../../platform/lib/page-request.ts';
import { checkConnection, listConnectionFields, type CheckConnectionDeps } from './check-connection.ts';
import {
  changeConnection,
  createConnection,
  getConnection,
  listConnections,
  listConnectionKinds,
  removeConnection,
  type ConnectionDeps,
} from './connections.ts';
import {
  CheckConnection,
  Connection,
  ConnectionCheck,
  ConnectionFields,
  ConnectionFieldsQuery,
  ConnectionKinds,
  ConnectionList,
  ConnectionPath,
  CreateConnection,
  UpdateConnection,
  SearchInput,
  SearchRows,
} from './connections.schema.ts';
import { disconnectSignal } from '../../platform/http/connections.ts';
import { searchWindow, type SearchWindowDeps } from './search-logs.ts';

type ConnectionRoutesDeps = ConnectionDeps & CheckConnectionDeps;

export function connectionRoutes(app: App, deps: ConnectionRoutesDeps): void {
  const route = apiRoutes(app, { tag: 'connections', scope: 'detections:read' });
  route(
    'GET /api/connections/kinds',
    { operationId: 'listConnectionKinds', summary: 'List the supported SIEMs', returns: ConnectionKinds },
    () => listConnectionKinds(),
  );
  route(
    'GET /api/connections',
    {
      operationId: 'listConnections',
      summary: 'List connections: the embedded log store, then the others, newest first',
      query: PageQuery,
      returns: ConnectionList,
    },
    ({ caller, query }) => listConnections(deps, caller, query),
  );
  route(
    'POST /api/connections',
    {
      operationId: 'createConnection',
      summary: 'Create a connection to a SIEM',
      scope: 'connections:admin',
      body: CreateConnection,
      returns: Connection,
    },
    ({ caller, body }) => createConnection(deps, caller, body),
  );
  connectionByIdRoutes(app, deps);
}

function connectionByIdRoutes(app: App, deps: ConnectionRoutesDeps): void {
  const route = apiRoutes(app, { tag: 'connections', scope: 'connections:admin' });
  route(
    'GET /api/connections/:id',
    {
      operationId: 'getConnection',
      summary: 'Get a connection',
      scope: 'detections:read',
      params: ConnectionPath,
      returns: Connection,
      hasEtag: true,
    },
    ({ caller, params }) => getConnection(deps, caller, params.id),
  );
  route(
    'PUT /api/connections/:id',
    {
      operationId: 'updateConnection',
      summary: 'Change a connection. Absent fields are unchanged',
      params: ConnectionPath,
      body: UpdateConnection,
      returns: Connection,
      hasEtag: true,
      acceptsIfMatch: true,
    },
    ({ caller, params, body, ifMatch }) => changeConnection(deps, caller, params.id, { ...body, ifMatch }),
  );
  route(
    'DELETE /api/connections/:id',
    {
      operationId: 'deleteConnection',
      summary: 'Delete a connection that no detection uses',
      params: ConnectionPath,
      returns: Connection,
    },
    ({ caller, params }) => removeConnection(deps, caller, params.id),
  );
  route(
    'POST /api/connections/:id/check',
    {
      operationId: 'checkConnection',
      summary: 'Check that a connection works, and optionally that a query would run',
      isBodyOptional: true,
      params: ConnectionPath,
      body: CheckConnection,
      returns: ConnectionCheck,
    },
    ({ caller, params, body }) => checkConnection(deps, caller, params.id, body),
  );
  route(
    'GET /api/connections/:id/fields',
    {
      operationId: 'listConnectionFields',
      summary: 'List the datasets and fields of a connection',
      scope: 'detections:read',
      params: ConnectionPath,
      query: ConnectionFieldsQuery,
      returns: ConnectionFields,
    },
    ({ caller, params, query }) => listConnectionFields(deps, caller, params.id, query),
  );
}

export function searchRoutes(app: App, deps: SearchWindowDeps): void {
  apiRoutes(app, { tag: 'logs', scope: 'detections:run' })(
    'POST /api/logs/search',
    {
      operationId: 'searchLogs',
      summary: 'Run a query over a time window and return its rows',
      description:
        'The query is checked and isolated as those of detections are. A column that no event has is null, with a warning. It takes at most 30 seconds, and ends when the client disconnects. A query that cannot run is a 422 with the reason, a SIEM that fails a 503.',
      body: SearchInput,
      returns: SearchRows,
    },
    ({ caller, body, reply }) => searchWindow(deps, caller, body, disconnectSignal(reply)),
  );
}
