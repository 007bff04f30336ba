import { randomUUID } from 'node:crypto';
import compress from '@fastify/compress';
import { LogController, fastify } from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import type { Deps } from './deps.ts';
import { agentRunRoutes } from './agents/routes.ts';
import { agentRoutes } from './detections/agent-routes.ts';
import { detectionRoutes } from './detections/routes.ts';
import { toolRoutes } from './detections/tool-routes.ts';
import { bulkRoutes } from './detections/bulk-routes.ts';
import { exceptionRoutes } from './detections/exception-routes.ts';
import { promptRoutes, revisionRoutes } from './detections/history-routes.ts';
import { suggestionRoutes } from './detections/suggestion-routes.ts';
import { exportRoutes } from './exports/routes.ts';
import { feedRoutes } from './feed/routes.ts';
import { exposureRoutes } from './exposure/routes.ts';
import { relevanceRoutes } from './relevance/routes.ts';
import { indicatorRoutes } from './feed/indicator-routes.ts';
import { hitRoutes } from './hits/routes.ts';
import { decisionRoutes } from './ingest/decisions/routes.ts';
import { sourceRoutes } from './ingest/routes.ts';
import { runAgentRoutes } from './runs/agent-routes.ts';
import { keepingRoutes } from './keeping/routes.ts';
import { outputRoutes } from './outputs/routes.ts';
import { proofRoutes } from './proof/routes.ts';
import { runRoutes } from './runs/routes.ts';
import { generateRoutes } from './suggest/routes.ts';
import { connectionRoutes } from './connections/routes.ts';
import { checkParameters, readJsonBodies } from './http/body.ts';
import { allowOrigins } from './http/cors.ts';
import { healthRoutes } from './http/health.ts';
import { answerOnce } from './http/idempotency.ts';
import { guardWithKeys } from './http/keyed.ts';
import { measureRequests } from './http/metrics.ts';
import { describeApi } from './http/openapi.ts';
import { sendProblem } from './http/problem.ts';
import { requestLog } from './http/request-log.ts';
import type { App } from './http/route.ts';
import { answerUnknownRoutes } from './http/unknown-routes.ts';
import { logRoutes } from './logs/routes.ts';
import { mcpRoutes } from './mcp/routes.ts';
import { orgRoutes } from './orgs/routes.ts';
import { taxiiRoutes } from './taxii/routes.ts';

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
