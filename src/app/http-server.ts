import { randomUUID } from 'node:crypto';
import compress from '@fastify/compress';
import { LogController, fastify } from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import type { Deps } from './deps.ts';
import { agentRunRoutes } from '../agents/runs/agent-runs.routes.ts';
import { agentRoutes } from '../detection/detections/built-in-agents/built-in-agents.routes.ts';
import { detectionRoutes } from '../detection/detections/detections.routes.ts';
import { toolRoutes } from '../detection/detections/tool-grants/tool-grants.routes.ts';
import { bulkRoutes } from '../detection/detections/bulk/bulk.routes.ts';
import { exceptionRoutes } from '../detection/detections/exceptions/exceptions.routes.ts';
import { promptRoutes, revisionRoutes } from '../detection/detections/history/history.routes.ts';
import { suggestionRoutes } from '../detection/detections/suggestions/suggestions.routes.ts';
import { exportRoutes } from '../feed/exports/exports.routes.ts';
import { feedRoutes } from '../feed/items/items.routes.ts';
import { exposureRoutes } from '../agents/sightings/sightings.routes.ts';
import { relevanceRoutes } from '../feed/relevance/relevance.routes.ts';
import { indicatorRoutes } from '../feed/indicators/indicators.routes.ts';
import { hitRoutes } from '../detection/hits/hits.routes.ts';
import { decisionRoutes } from '../feed/curation/curation.routes.ts';
import { sourceRoutes } from '../feed/sources/sources.routes.ts';
import { runAgentRoutes } from '../detection/runs/run-details.routes.ts';
import { keepingRoutes } from '../platform/retention/retention.routes.ts';
import { outputRoutes } from '../platform/notifications/outputs.routes.ts';
import { proofRoutes } from '../detection/testing/testing.routes.ts';
import { runRoutes } from '../detection/runs/runs.routes.ts';
import { generateRoutes } from '../agents/suggestions/suggestions.routes.ts';
import { connectionRoutes } from '../detection/connections/connections.routes.ts';
import { checkParameters, readJsonBodies } from '../platform/http/body.ts';
import { allowOrigins } from '../platform/http/cors.ts';
import { healthRoutes } from '../platform/http/health.routes.ts';
import { answerOnce } from '../platform/http/idempotency.ts';
import { guardWithKeys } from '../platform/http/authenticate-request.ts';
import { measureRequests } from '../platform/http/metrics.ts';
import { describeApi } from '../platform/http/openapi.ts';
import { sendProblem } from '../platform/http/problem.ts';
import { requestLog } from '../platform/http/request-logger.ts';
import type { App } from '../platform/http/app-type.ts';
import { answerUnknownRoutes } from '../platform/http/unknown-routes.ts';
import { logRoutes } from '../detection/logs/logs.routes.ts';
import { mcpRoutes } from '../platform/mcp/mcp.routes.ts';
import { orgRoutes } from '../platform/orgs/orgs.routes.ts';
import { taxiiRoutes } from '../feed/taxii/taxii.routes.ts';

const bodyMaxBytes = 1024 * 1024;

/** Builds the HTTP side: who may pass, how errors look, and one line per slice. It listens to nothing yet. */
export async function buildApp(deps: Deps): Promise<App> {
  const app = fastify({
    loggerInstance: deps.log,
    childLoggerFactory: requestLog,
    bodyLimit: bodyMaxBytes,
    genReqId: () => randomUUID(),
    logController: new LogController({
      requestIdLogLabel: 'requestId',
      disableRequestLogging: deps.config.logLevel !== 'debug',
    }),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 500 },
    requestTimeout: 120_000,
    forceCloseConnections: 'idle',
    // Bad bytes on the wire never reach a route; they are answered in the same form as everything else.
    frameworkErrors: (error, request, reply) => sendProblem(error, request, reply),
  }) as unknown as App;
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(sendProblem);
  readJsonBodies(app);
  checkParameters(app);
  allowOrigins(app, deps.config.corsOrigins);
  guardWithKeys(app, deps);
  answerUnknownRoutes(app);
  answerOnce(app, deps);
  await app.register(compress, { threshold: 1024, encodings: ['br', 'gzip'] });
  await describeApi(app);
  measureRequests(app, deps.metrics);
  healthRoutes(app, deps);
  orgRoutes(app, deps);
  detectionRoutes(app, deps);
  suggestionRoutes(app, deps);
  generateRoutes(app, deps);
  agentRoutes(app, deps);
  agentRunRoutes(app, deps);
  exceptionRoutes(app, deps);
  promptRoutes(app, deps);
  revisionRoutes(app, deps);
  bulkRoutes(app, deps);
  proofRoutes(app, deps);
  keepingRoutes(app, deps);
  runRoutes(app, deps);
  runAgentRoutes(app, deps);
  toolRoutes(app, deps);
  hitRoutes(app, deps);
  connectionRoutes(app, deps);
  mcpRoutes(app, deps);
  outputRoutes(app, deps);
  logRoutes(app, deps);
  feedRoutes(app, deps);
  relevanceRoutes(app, deps);
  exposureRoutes(app, deps);
  indicatorRoutes(app, deps);
  sourceRoutes(app, deps);
  taxiiRoutes(app, deps);
  exportRoutes(app, deps);
  decisionRoutes(app, deps);
  return app;
}
