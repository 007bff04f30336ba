import { CreateDetection, IdPath } from '../detections/record/detection-input.schema.ts';
import { ExceptionProposals, ProposeExceptions } from '../detections/exceptions/exceptions.schema.ts';
import { getTests, putTests, versionOfTests } from '../detections/test-cases.ts';
import { TestSet } from '../detections/test-cases.schema.ts';
import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { disconnectSignal } from '../../platform/http/connections.ts';
import { acceptsEventStream, streamProgress } from '../../platform/http/responses/progress-stream.ts';
import { backtestDetection } from './backtest.ts';
import { estimateDetection, estimateNewDetection } from './estimate-cost.ts';
import { previewDetection } from './preview.ts';
import { proposeExceptions, type RepeatRehearsals } from './propose-exceptions.ts';
import { runTests, type RunTestsDeps } from './run-test-set.ts';
import type { TrialDeps } from './simulate-time-range.ts';
import {
  Backtest,
  BacktestRequest,
  CostEstimate,
  Preview,
  PreviewDetection,
  PreviewQuery,
  TestQuery,
  TestRun,
  type BacktestProgress,
} from './testing.schema.ts';

/** Rehearsals are injected, because they know the feed as well. */
export function testingRoutes(app: App, deps: TrialDeps & RunTestsDeps, repeatRehearsals: RepeatRehearsals): void {
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
    ({ caller, body, reply }) => previewDetection(deps, caller, body, disconnectSignal(reply)),
  );
  route(
    'POST /api/detections/estimate',
    {
      operationId: 'estimateNewDetection',
      summary: 'Estimate what a detection will cost per month, without storing anything',
      description: 'Runs its query on the recent past. Budgets may end runs before they cost that much.',
      body: CreateDetection,
      returns: CostEstimate,
    },
    ({ caller, body }) => estimateNewDetection(deps, caller, body),
  );
  route(
    'POST /api/detections/:id/estimate',
    {
      operationId: 'estimateDetection',
      summary: 'Estimate what a stored detection will cost per month',
      description:
        'By its own runs of the last 30 days, or, before it ran for a week, by its query on the recent past.',
      params: IdPath,
      returns: CostEstimate,
    },
    ({ caller, params }) => estimateDetection(deps, caller, params.id),
  );
  route(
    'POST /api/detections/:id/backtest',
    {
      operationId: 'backtestDetection',
      summary: 'Backtest a detection: the hits it would have raised, compared with reviews',
      description:
        'With `Accept: text/event-stream`, the response is a stream of server-sent events: `progress` after each window, with `phase` (`examining`, then `tuning` while a quieter tuning is looked for), `windowsDone` and `windowsTotal` (the windows of the range and those before it that fill memory, for every version), then `result` with the backtest, or `problem` with a problem document. An error before the first window is an error response. The backtest stops when the client closes the connection.',
      params: IdPath,
      body: BacktestRequest,
      returns: Backtest,
    },
    async ({ caller, params, body, request, reply }) => {
      const input = { ...body, detectionId: params.id, stopped: disconnectSignal(reply) };
      if (!acceptsEventStream(request)) return backtestDetection(deps, caller, input);
      await streamProgress({ request, reply }, (report: (progress: BacktestProgress) => void) =>
        backtestDetection(deps, caller, { ...input, report }),
      );
      return undefined as never;
    },
  );
  route(
    'POST /api/detections/:id/exceptions/proposals',
    {
      operationId: 'proposeExceptions',
      summary: 'Propose exceptions for false positives, with proof of what they hide and keep',
      description:
        'Proposes the narrowest combinations of values that the hits share and other findings do not. Each is compared with the stored findings of the detection with its test cases, and with the rehearsed attacks on which it fired. Stores nothing.',
      scope: 'hits:read',
      params: IdPath,
      body: ProposeExceptions,
      returns: ExceptionProposals,
    },
    ({ caller, params, body }) => proposeExceptions({ ...deps, repeatRehearsals }, caller, params.id, body),
  );
  route(
    'GET /api/detections/:id/tests',
    {
      operationId: 'listTests',
      summary: 'List the test cases of a detection',
      scope: 'detections:read',
      params: IdPath,
      returns: TestSet,
      versionOf: versionOfTests,
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
      acceptsIfMatch: true,
      body: TestSet,
      returns: TestSet,
      versionOf: versionOfTests,
    },
    ({ caller, params, body, ifMatch }) => putTests(deps, caller, { id: params.id, ifMatch }, body),
  );
  route(
    'POST /api/detections/:id/tests/run',
    {
      operationId: 'runTests',
      summary: 'Run the test cases of a detection',
      params: IdPath,
      query: TestQuery,
      returns: TestRun,
    },
    ({ caller, params, query }) => runTests(deps, caller, params.id, query),
  );
}
