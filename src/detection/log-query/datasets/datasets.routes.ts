import type { App } from '../../../platform/http/app-type.ts';
import { apiRoutes } from '../../../platform/http/api-routes.ts';
import { disconnectSignal } from '../../../platform/http/connections.ts';
import { DatasetList, DatasetPath } from '../../log-store/catalog/datasets.schema.ts';
import type { SearchLogsDeps } from '../search/search-logs.ts';
import {
  ExploreQuery,
  FieldStatistics,
  Histogram,
  HistogramQuery,
  getFieldStatistics,
  getHistogram,
} from './explore-dataset.ts';
import { listDatasets } from './list-datasets.ts';

/** The datasets of the embedded store: what they have received, and what is in a window of one. */
export function datasetRoutes(app: App, deps: SearchLogsDeps): void {
  const explore = apiRoutes(app, { tag: 'logs', scope: 'detections:run' });
  explore(
    'GET /api/logs/:dataset/fields',
    {
      operationId: 'listDatasetFields',
      summary: 'Get the types, presence and most frequent values of the fields of a dataset',
      description: 'Datasets of the embedded store. Reads the newest 5,000 matching events of the window.',
      params: DatasetPath,
      query: ExploreQuery,
      returns: FieldStatistics,
    },
    ({ caller, params, query, reply }) =>
      getFieldStatistics(deps, caller, { dataset: params.dataset, query }, disconnectSignal(reply)),
  );
  explore(
    'GET /api/logs/:dataset/histogram',
    {
      operationId: 'getDatasetHistogram',
      summary: 'Count the events of a dataset over time',
      description: 'Datasets of the embedded store.',
      params: DatasetPath,
      query: HistogramQuery,
      returns: Histogram,
    },
    ({ caller, params, query, reply }) =>
      getHistogram(deps, caller, { dataset: params.dataset, query }, disconnectSignal(reply)),
  );
  const route = apiRoutes(app, { tag: 'logs', scope: 'detections:read' });
  route(
    'GET /api/logs',
    { operationId: 'listDatasets', summary: 'List the datasets with their columns', returns: DatasetList },
    ({ caller }) => listDatasets(deps, caller.orgId),
  );
}
