import { requireCaller, type App } from '../../platform/http/app-type.ts';
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
  ConnectionKinds,
  ConnectionList,
  ConnectionPath,
  CreateConnection,
  UpdateConnection,
} from './connections.schema.ts';

type ConnectionRoutesDeps = ConnectionDeps & CheckConnectionDeps;

const tags = ['connections'];
const read = { scope: 'detections:read' } as const;
const admin = { scope: 'connections:admin' } as const;

export function connectionRoutes(app: App, deps: ConnectionRoutesDeps): void {
  app.route({
    method: 'GET',
    url: '/api/connections/kinds',
    config: read,
    schema: { tags, summary: 'List the supported SIEMs', response: { 200: ConnectionKinds } },
    handler: () => listConnectionKinds(),
  });
  app.route({
    method: 'GET',
    url: '/api/connections',
    config: read,
    schema: {
      tags,
      summary: 'List connections: the embedded log store, then the others, newest first',
      querystring: PageQuery,
      response: { 200: ConnectionList },
    },
    handler: (request) => listConnections(deps, requireCaller(request), request.query),
  });
  app.route({
    method: 'POST',
    url: '/api/connections',
    config: admin,
    schema: { tags, summary: 'Create a connection to a SIEM', body: CreateConnection, response: { 200: Connection } },
    handler: (request) => createConnection(deps, requireCaller(request), request.body),
  });
  connectionByIdRoutes(app, deps);
}

function connectionByIdRoutes(app: App, deps: ConnectionRoutesDeps): void {
  app.route({
    method: 'GET',
    url: '/api/connections/:id',
    config: read,
    schema: { tags, summary: 'Get a connection', params: ConnectionPath, response: { 200: Connection } },
    handler: (request) => getConnection(deps, requireCaller(request), request.params.id),
  });
  app.route({
    method: 'PUT',
    url: '/api/connections/:id',
    config: admin,
    schema: {
      tags,
      summary: 'Change a connection. Absent fields stay unchanged',
      params: ConnectionPath,
      body: UpdateConnection,
      response: { 200: Connection },
    },
    handler: (request) => changeConnection(deps, requireCaller(request), request.params.id, request.body),
  });
  app.route({
    method: 'DELETE',
    url: '/api/connections/:id',
    config: { ...admin, ignoresBody: true },
    schema: {
      tags,
      summary: 'Delete a connection that no detection uses',
      params: ConnectionPath,
      response: { 200: Connection },
    },
    handler: (request) => removeConnection(deps, requireCaller(request), request.params.id),
  });
  app.route({
    method: 'POST',
    url: '/api/connections/:id/check',
    config: { ...admin, isBodyOptional: true },
    schema: {
      tags,
      summary: 'Check that a connection works, and optionally that a query would run',
      params: ConnectionPath,
      body: CheckConnection,
      response: { 200: ConnectionCheck },
    },
    handler: (request) => checkConnection(deps, requireCaller(request), request.params.id, request.body),
  });
  app.route({
    method: 'GET',
    url: '/api/connections/:id/fields',
    config: read,
    schema: {
      tags,
      summary: 'List the datasets and fields of a connection',
      params: ConnectionPath,
      response: { 200: ConnectionFields },
    },
    handler: (request) => listConnectionFields(deps, requireCaller(request), request.params.id),
  });
}
