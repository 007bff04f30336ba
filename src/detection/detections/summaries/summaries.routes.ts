import type { App } from '../../../platform/http/app-type.ts';
import { apiRoutes } from '../../../platform/http/api-routes.ts';
import { IdPath } from '../record/detection-input.schema.ts';
import { getDays, getSummaries, type ReadSummariesDeps } from './read-summaries.ts';
import { DaysQuery, DetectionDays, SummaryList, SummaryQuery } from './summaries.schema.ts';

export function summaryRoutes(app: App, deps: ReadSummariesDeps): void {
  const route = apiRoutes(app, { tag: 'detections', scope: 'detections:read' });
  route(
    'GET /api/detections/summaries',
    {
      operationId: 'listDetectionSummaries',
      summary: 'List short records of the detections with their health and hits per day',
      description:
        'For tables of many detections: about 700 bytes each, without queries and prompts. A page is read by index, whatever the number of detections; only sorting and filters read all of them.',
      query: SummaryQuery,
      returns: SummaryList,
    },
    ({ caller, query }) => getSummaries(deps, caller, query),
  );
  route(
    'GET /api/detections/:id/days',
    {
      operationId: 'getDetectionDays',
      summary: 'Get the runs, hits, score and cost of a detection per UTC day',
      params: IdPath,
      query: DaysQuery,
      returns: DetectionDays,
    },
    ({ caller, params, query }) =>
      getDays(deps, caller, { id: params.id, count: query.days === undefined ? undefined : Number(query.days) }),
  );
}
