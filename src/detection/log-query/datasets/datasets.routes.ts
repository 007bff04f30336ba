import type { App } from '../../../platform/http/app-type.ts';
import { apiRoutes } from '../../../platform/http/api-routes.ts';
import { DatasetList } from '../../log-store/catalog/datasets.schema.ts';
import { listDatasets, type ListDatasetsDeps } from './list-datasets.ts';

export function datasetRoutes(app: App, deps: ListDatasetsDeps): void {
  const route = apiRoutes(app, { tag: 'logs', scope: 'detections:read' });
  route(
    'GET /api/logs',
    { operationId: 'listDatasets', summary: 'List the datasets with their columns', returns: DatasetList },
    ({ caller }) => listDatasets(deps, caller.orgId),
  );
}
