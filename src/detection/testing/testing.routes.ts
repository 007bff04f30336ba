import { IdPath } from '../detections/record/detection-input.schema.ts';
import { TestSet } from '../detections/test-cases/test-cases.schema.ts';
import { getTests, putTests } from '../detections/test-cases/test-cases.ts';
import { requireCaller, type App } from '../../platform/http/app-type.ts';
import { backtestDetection } from './backtest.ts';
import { previewDetection } from './preview.ts';
import { runTests, type RunTestsDeps } from './run-tests.ts';
import type { TrialDeps } from './simulate-time-range.ts';
import { Backtest, BacktestRequest, Preview, PreviewDetection, TestQuery, TestRun } from './testing.schema.ts';

const tags = ['detections'];
const read = { scope: 'detections:read' } as const;
const write = { scope: 'detections:write' } as const;
const run = { scope: 'detections:run' } as const;

export function testingRoutes(app: App, deps: TrialDeps & RunTestsDeps): void {
  app.route({
    method: 'POST',
    url: '/api/detections/preview',
    config: run,
    schema: {
      tags,
      summary: 'Preview a detection on past events without storing anything',
      body: PreviewDetection,
      response: { 200: Preview },
    },
    handler: (request) => previewDetection(deps, requireCaller(request), request.body),
  });
  app.route({
    method: 'POST',
    url: '/api/detections/:id/backtest',
    config: run,
    schema: {
      tags,
      summary: 'Backtest a detection: the hits it would have raised, compared with reviews',
      params: IdPath,
      body: BacktestRequest,
      response: { 200: Backtest },
    },
    handler: (request) => backtestDetection(deps, requireCaller(request), request.params.id, request.body),
  });
  app.route({
    method: 'GET',
    url: '/api/detections/:id/tests',
    config: read,
    schema: { tags, summary: 'List the test cases of a detection', params: IdPath, response: { 200: TestSet } },
    handler: (request) => getTests(deps, requireCaller(request), request.params.id),
  });
  app.route({
    method: 'PUT',
    url: '/api/detections/:id/tests',
    config: write,
    schema: {
      tags,
      summary: 'Replace the test cases of a detection',
      params: IdPath,
      body: TestSet,
      response: { 200: TestSet },
    },
    handler: (request) => putTests(deps, requireCaller(request), request.params.id, request.body),
  });
  app.route({
    method: 'POST',
    url: '/api/detections/:id/tests/run',
    config: { ...run, ignoresBody: true },
    schema: {
      tags,
      summary: 'Run the test cases of a detection',
      params: IdPath,
      querystring: TestQuery,
      response: { 200: TestRun },
    },
    handler: (request) => runTests(deps, requireCaller(request), request.params.id, request.query),
  });
}
