import type { App } from '../../../platform/http/app-type.ts';
import { apiRoutes } from '../../../platform/http/api-routes.ts';
import { ColumnDeclarations, DatasetColumns, DatasetPath } from './datasets.schema.ts';
import { declareColumns, readColumns, versionOfColumns, type DeclareColumnsDeps } from './declare-columns.ts';

export function columnRoutes(app: App, deps: DeclareColumnsDeps): void {
  const route = apiRoutes(app, { tag: 'logs', scope: 'detections:read' });
  route(
    'GET /api/logs/:dataset/columns',
    {
      operationId: 'getColumns',
      summary: 'Get the columns of a dataset',
      description: 'The `ETag` is the version of the declared types.',
      params: DatasetPath,
      returns: DatasetColumns,
      versionOf: versionOfColumns,
    },
    ({ caller, params }) => readColumns(deps, caller, params.dataset),
  );
  route(
    'PUT /api/logs/:dataset/columns',
    {
      operationId: 'declareColumns',
      summary: 'Declare the types of columns',
      description:
        'Replaces the declared types of a dataset, which may be new. Applies to all events, stored ones included. A value that does not fit is null in the column and readable as text under `_text`.',
      scope: 'detections:write',
      params: DatasetPath,
      acceptsIfMatch: true,
      body: ColumnDeclarations,
      returns: DatasetColumns,
      versionOf: versionOfColumns,
    },
    ({ caller, params, body, ifMatch }) => declareColumns(deps, caller, { ...params, ...body, ifMatch }),
  );
}
