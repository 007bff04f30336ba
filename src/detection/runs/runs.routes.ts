import { IdPath } from '../detections/record/detection-input.schema.ts';
import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { PageQuery } from '../../platform/lib/page-request.ts';
import { estimateBackfill, requestBackfill, type BackfillDeps } from './requests/request-backfill.ts';
import { cancelRun } from './requests/cancel-run.ts';
import { getGaps, getRun, getRuns } from './read-runs.ts';
import { getWindows } from './windows/read-windows.ts';
import { WindowList, WindowsQuery } from './windows/windows.schema.ts';
import { requestRun } from './requests/request-run.ts';
import {
  Backfill,
  BackfillQuery,
  BackfillRequest,
  GapList,
  Run,
  RunList,
  RunRequest,
  RunStarted,
} from './runs.schema.ts';

export function runRoutes(app: App, deps: BackfillDeps): void {
  const route = apiRoutes(app, { tag: 'runs', scope: 'detections:run' });
  route(
    'POST /api/detections/:id/run',
    {
      operationId: 'runDetection',
      summary: 'Run a detection now',
      isBodyOptional: true,
      params: IdPath,
      body: RunRequest,
      returns: RunStarted,
    },
    ({ caller, params, body }) => requestRun(deps, caller, params.id, body),
  );
  route(
    'GET /api/detections/:id/runs',
    {
      operationId: 'listRuns',
      summary: 'List runs, newest first',
      scope: 'detections:read',
      params: IdPath,
      query: PageQuery,
      returns: RunList,
    },
    ({ caller, params, query }) => getRuns(deps, caller, params.id, query),
  );
  route(
    'GET /api/detections/:id/gaps',
    {
      operationId: 'listGaps',
      summary: 'List gaps, the time that no run examined, latest first',
      scope: 'detections:read',
      params: IdPath,
      query: PageQuery,
      returns: GapList,
    },
    ({ caller, params, query }) => getGaps(deps, caller, params.id, query),
  );
  route(
    'GET /api/detections/:id/windows',
    {
      operationId: 'getDetectionTimeline',
      summary: 'Get the time line of a detection: examined time, waiting windows and gaps',
      scope: 'detections:read',
      params: IdPath,
      query: WindowsQuery,
      returns: WindowList,
    },
    ({ caller, params, query }) => getWindows(deps, caller, params.id, query),
  );
  route(
    'POST /api/detections/:id/backfill',
    {
      operationId: 'backfillGaps',
      summary: 'Backfill gaps',
      params: IdPath,
      query: BackfillQuery,
      body: BackfillRequest,
      returns: Backfill,
    },
    ({ caller, params, query, body }) => {
      const backfill = query.estimate === 'true' ? estimateBackfill : requestBackfill;
      return backfill(deps, caller, params.id, body);
    },
  );
  route(
    'GET /api/runs/:id',
    { operationId: 'getRun', summary: 'Get a run', scope: 'detections:read', params: IdPath, returns: Run },
    ({ caller, params }) => getRun(deps, caller, params.id),
  );
  route(
    'POST /api/runs/:id/cancel',
    { operationId: 'cancelRun', summary: 'Cancel a run', ignoresBody: true, params: IdPath, returns: Run },
    ({ caller, params }) => cancelRun(deps, caller, params.id),
  );
}
