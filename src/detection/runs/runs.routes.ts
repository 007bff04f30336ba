import { IdPath } from '../detections/record/detection-input.schema.ts';
import { requireCaller, type App } from '../../platform/http/app-type.ts';
import { PageQuery } from '../../platform/lib/page-request.ts';
import { estimateBackfill, requestBackfill, type BackfillDeps } from './requests/request-backfill.ts';
import { cancelRun } from './requests/cancel-run.ts';
import { getGaps, getRun, getRuns } from './read-runs.ts';
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

const tags = ['runs'];
const read = { scope: 'detections:read' } as const;
const run = { scope: 'detections:run' } as const;

export function runRoutes(app: App, deps: BackfillDeps): void {
  app.route({
    method: 'POST',
    url: '/api/detections/:id/run',
    config: { ...run, isBodyOptional: true },
    schema: { tags, summary: 'Run a detection now', params: IdPath, body: RunRequest, response: { 200: RunStarted } },
    handler: (request) => requestRun(deps, requireCaller(request), request.params.id, request.body),
  });
  app.route({
    method: 'GET',
    url: '/api/detections/:id/runs',
    config: read,
    schema: {
      tags,
      summary: 'List runs, newest first',
      params: IdPath,
      querystring: PageQuery,
      response: { 200: RunList },
    },
    handler: (request) => getRuns(deps, requireCaller(request), request.params.id, request.query),
  });
  app.route({
    method: 'GET',
    url: '/api/detections/:id/gaps',
    config: read,
    schema: {
      tags,
      summary: 'List gaps, the time that no run examined, latest first',
      params: IdPath,
      querystring: PageQuery,
      response: { 200: GapList },
    },
    handler: (request) => getGaps(deps, requireCaller(request), request.params.id, request.query),
  });
  app.route({
    method: 'POST',
    url: '/api/detections/:id/backfill',
    config: run,
    schema: {
      tags,
      summary: 'Backfill gaps',
      params: IdPath,
      querystring: BackfillQuery,
      body: BackfillRequest,
      response: { 200: Backfill },
    },
    handler: (request) => {
      const backfill = request.query.estimate === 'true' ? estimateBackfill : requestBackfill;
      return backfill(deps, requireCaller(request), request.params.id, request.body);
    },
  });
  app.route({
    method: 'GET',
    url: '/api/runs/:id',
    config: read,
    schema: { tags, summary: 'Get a run', params: IdPath, response: { 200: Run } },
    handler: (request) => getRun(deps, requireCaller(request), request.params.id),
  });
  app.route({
    method: 'POST',
    url: '/api/runs/:id/cancel',
    config: { ...run, ignoresBody: true },
    schema: { tags, summary: 'Cancel a run', params: IdPath, response: { 200: Run } },
    handler: (request) => cancelRun(deps, requireCaller(request), request.params.id),
  });
}
