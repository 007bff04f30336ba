import { IdPath } from '../detections/record/detection-input.schema.ts';
import { TestSet } from '../detections/test-cases/test-cases.schema.ts';
import { getTests, putTests } from '../detections/test-cases/test-cases.ts';
import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { disconnectSignal } from '../../platform/http/disconnect-signal.ts';
import { backtestDetection } from './backtest.ts';
import { previewDetection } from './preview.ts';
import { runTests, type RunTestsDeps } from './run-tests.ts';
import type { TrialDeps } from './simulate-time-range.ts';
import {
  Backtest,
  BacktestRequest,
  Preview,
  PreviewDetection,
  PreviewQuery,
  TestQuery,
  TestRun,
} from './testing.schema.ts';

export function testingRoutes(app: App, deps: TrialDeps & RunTestsDeps): void {
  const route = apiRoutes(app, { tag: 'detections', scope: 'detections:run' });
  route(
    'POST /api/detections/preview',
    {
      operationId: 'previewDetection',
      summary: 'Preview a detection on past events without storing anything',
      query: PreviewQuery,
      body: PreviewDetection,
      returns: Preview,
    },
    ({ caller, query, body, reply }) =>
      previewDetection(deps, caller, { ...body, validate: query.validate !== 'false' }, disconnectSignal(reply)),
  );
  route(
    'POST /api/detections/:id/backtest',
    {
      operationId: 'backtestDetection',
      summary: 'Backtest a detection: the hits it would have raised, compared with reviews',
      params: IdPath,
      body: BacktestRequest,
      returns: Backtest,
    },
    ({ caller, params, body, reply }) =>
      backtestDetection(deps, caller, { ...body, detectionId: params.id, stopped: disconnectSignal(reply) }),
  );
  route(
    'GET /api/detections/:id/tests',
    {
      operationId: 'listTests',
      summary: 'List the test cases of a detection',
      scope: 'detections:read',
      params: IdPath,
      returns: TestSet,
    },
    ({ caller, params }) => getTests(deps, caller, params.id),
  );
  route(
    'PUT /api/detections/:id/tests',
    {
      operationId: 'replaceTests',
      summary: 'Replace the test cases of a detection',
      scope: 'detections:write',
      params: IdPath,
      body: TestSet,
      returns: TestSet,
    },
    ({ caller, params, body }) => putTests(deps, caller, params.id, body),
  );
  route(
    'POST /api/detections/:id/tests/run',
    {
      operationId: 'runTests',
      summary: 'Run the test cases of a detection',
      ignoresBody: true,
      params: IdPath,
      query: TestQuery,
      returns: TestRun,
    },
    ({ caller, params, query }) => runTests(deps, caller, params.id, query),
  );
}
