import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import compress from '@fastify/compress';
import { LogController, fastify } from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import type { Deps } from './deps.ts';
import { listDegradedReasons } from './degraded-reasons.ts';
import { agentRunRoutes } from '../agents/runs/agent-runs.routes.ts';
import { coverageRoutes } from '../agents/attack-coverage/coverage.routes.ts';
import { rehearsalRoutes } from '../agents/rehearsals/rehearsals.routes.ts';
import { contextRoutes } from '../agents/context/context.routes.ts';
import { mcpEndpointRoutes } from '../agents/mcp-server/mcp-endpoint.routes.ts';
import { viewRoutes } from '../platform/views/views.routes.ts';
import { overviewRoutes } from '../agents/overview/overview.routes.ts';
import { agentRoutes } from '../detection/response-agents/agents.routes.ts';
import { detectionRoutes, suggestionRoutes } from '../detection/detections/detections.routes.ts';
import { summaryRoutes } from '../detection/detections/summaries/summaries.routes.ts';
import { agentSettingsRoutes } from '../detection/detections/agent-settings/agent-settings.routes.ts';
import { toolRoutes } from '../detection/detections/tool-grants/tool-grants.routes.ts';
import { bulkRoutes } from '../detection/detections/bulk/bulk.routes.ts';
import { sigmaRoutes } from '../detection/sigma/convert/sigma.routes.ts';
import { packRoutes } from '../detection/packs/packs.routes.ts';
import { libraryRoutes } from '../detection/library/library.routes.ts';
import { exceptionRoutes } from '../detection/detections/exceptions/exceptions.routes.ts';
import { promptRoutes, revisionRoutes } from '../detection/detections/history/history.routes.ts';
import { exportRoutes } from '../feed/exports/exports.routes.ts';
import { itemRoutes } from '../feed/items/items.routes.ts';
import { sourceWorthRoutes } from '../agents/source-worth/source-worth.routes.ts';
import { sightingRoutes } from '../agents/sightings/sightings.routes.ts';
import { relevanceRoutes } from '../feed/relevance/relevance.routes.ts';
import { entityRoutes } from '../feed/entities/entities.routes.ts';
import { indicatorRoutes } from '../feed/indicators/indicators.routes.ts';
import { erasers } from './erasers.ts';
import { repeatRehearsals } from '../agents/rehearsals/rehearse.ts';
import { huntRoutes } from '../agents/hunting/hunts.routes.ts';
import { incidentReportRoutes } from '../detection/incident-reports/incident-reports.routes.ts';
import { incidentRoutes } from '../detection/incidents/incidents.routes.ts';
import { findTechnique, listTactics } from '../feed/reference-data/attack.ts';
import { hitRoutes } from '../detection/hits/hits.routes.ts';
import { entityNoteRoutes } from '../detection/entities/entity-notes.routes.ts';
import { ruleSourceRoutes } from '../detection/rule-sources/rule-sources.routes.ts';
import { skillRoutes } from '../detection/skills/skills.routes.ts';
import { enricherRoutes } from '../platform/enrichment/enrichers.routes.ts';
import { valueListRoutes } from '../detection/value-lists/value-lists.routes.ts';
import { digestRoutes } from '../feed/digest/digest.routes.ts';
import { storyRoutes } from '../feed/stories/stories.routes.ts';
import { curationRoutes } from '../feed/curation/curation.routes.ts';
import { postItemRoutes } from '../feed/ingestion/post-item.routes.ts';
import { readingRoutes } from '../feed/reading/reading.routes.ts';
import { sourceRoutes } from '../feed/sources/sources.routes.ts';
import { retentionRoutes } from '../platform/retention/retention.routes.ts';
import { eraseFromLogs } from '../detection/log-compaction/erase-from-logs.ts';
import { eventRoutes } from '../platform/notifications/stream/events.routes.ts';
import { destinationRoutes } from '../platform/notifications/destinations.routes.ts';
import { testingRoutes } from '../detection/testing/testing.routes.ts';
import { reviewQueueRoutes } from '../detection/runs/review-queue/review-queue.routes.ts';
import { continuousRoutes } from '../detection/continuous/continuous.routes.ts';
import { runDetailRoutes, runRoutes } from '../detection/runs/runs.routes.ts';
import { webhookRoutes } from '../detection/runs/triggers/webhook.routes.ts';
import { draftingRoutes } from '../agents/suggestions/suggestions.routes.ts';
import { searchRoutes, connectionRoutes } from '../detection/connections/connections.routes.ts';
import { datasetRoutes } from '../detection/log-query/datasets/datasets.routes.ts';
import { registerParameterCheck, registerJsonBodies } from '../platform/http/body.ts';
import { handleClientError, handleConnectionErrors } from '../platform/http/responses/connection-errors.ts';
import { redirectBrowsers, registerConsole } from '../platform/http/responses/console-files.ts';
import { isMigrated } from '../platform/db/migrate.ts';
import { healthRoutes } from '../platform/http/health.routes.ts';
import { registerIdempotency } from '../platform/http/idempotency.ts';
import { authenticateRequests, createFailureThrottle } from '../platform/orgs/authenticate-request.ts';
import { registerMetrics } from './metrics.ts';
import { registerOpenApi } from '../platform/http/openapi/openapi.ts';
import { registerReference } from '../platform/http/openapi/reference-page.ts';
import { describeWebhooks } from '../platform/notifications/event-types.ts';
import { sendProblem, registerSecurityHeaders, registerCors } from '../platform/http/responses/problem.ts';
import { readFromReplica } from '../platform/http/read-from-replica.ts';
import { readRequestId, registerRequestId, createRequestLogger, traceRequests } from '../platform/http/request-log.ts';
import { closeConnectionsOnStop } from '../platform/http/connections.ts';
import type { App, ApiExamples } from '../platform/http/app-type.ts';
import { withoutBasePath } from '../platform/http/base-path.ts';
import { registerQueryNameCheck, handleUnknownRoutes } from '../platform/http/unknown-routes.ts';
import { columnRoutes } from '../detection/log-store/catalog/columns.routes.ts';
import { receiveLogsRoutes } from '../detection/log-ingest/receive-logs.routes.ts';
import { shipperSourceRoutes } from '../detection/shippers/http/shipper-sources.routes.ts';
import { elasticsearchRoutes } from '../detection/shippers/http/elasticsearch.routes.ts';
import { hecRoutes } from '../detection/shippers/http/hec.routes.ts';
import { lokiRoutes } from '../detection/shippers/http/loki.routes.ts';
import { otlpRoutes } from '../detection/shippers/http/otlp.routes.ts';
import { modelRoutes } from '../platform/models/models.routes.ts';
import { mcpRoutes } from '../platform/mcp/mcp.routes.ts';
import { createOrganization } from './bootstrap.ts';
import { listErasures, readErasure, requestErasure } from './erase-organization.ts';
import { countRequests } from './usage/usage-counter.ts';
import { exportUsage, readUsageDays } from './usage/list-usage.ts';
import { readOrganizationUsage } from './usage/usage.store.ts';
import { nameAdminKey } from '../platform/orgs/administer-organizations.ts';
import { limitRoutes } from '../platform/orgs/limits/limits.routes.ts';
import { requireOrgId } from '../platform/orgs/limits/quotas.ts';
import { usageRoutes, organizationRoutes } from '../platform/orgs/admin.routes.ts';
import { orgRoutes } from '../platform/orgs/orgs.routes.ts';
import { personRoutes } from '../platform/orgs/sessions/persons.routes.ts';
import { sessionRoutes } from '../platform/orgs/sessions/sessions.routes.ts';
import { singleSignOnRoutes } from '../platform/orgs/single-sign-on/single-sign-on.routes.ts';
import { taxiiRoutes } from '../feed/taxii/taxii.routes.ts';

/** Builds the HTTP server: hooks, error handling and the routes of every slice. The caller starts listening. */
export async function buildApp(deps: Deps): Promise<App> {
  const app = createServer(deps);
  const throttleFailure = createFailureThrottle();
  registerHooks(app, { ...deps, throttleFailure });
  await registerDocuments(app);
  countRequests(app, deps.usage);
  registerAdministration(app, deps);
  registerPlatform(app, { ...deps, throttleFailure });
  webhookRoutes(app, { ...deps, throttleFailure });
  registerDetections(app, deps);
  registerLogs(app, deps);
  registerFeed(app, deps);
  registerAgents(app, deps);
  return app;
}

type HttpDeps = Deps & { throttleFailure: ReturnType<typeof createFailureThrottle> };

function createServer({ log, config }: Deps): App {
  const app = fastify({
    loggerInstance: log,
    childLoggerFactory: createRequestLogger,
    bodyLimit: 1024 * 1024,
    genReqId: readRequestId,
    // A reverse proxy may pass requests on with the path of the public address or without it.
    rewriteUrl: ({ url = '/' }) => withoutBasePath(url, config.basePath),
    logController: new LogController({
      requestIdLogLabel: 'requestId',
      disableRequestLogging: config.logLevel !== 'debug',
    }),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 500 },
    requestTimeout: 120_000,
    forceCloseConnections: 'idle',
    // A request that arrives while the server closes is served. Some shippers drop events that were answered with an error.
    return503OnClosing: false,
    // Malformed requests never reach a route. Their errors have the same format as all others.
    clientErrorHandler: handleClientError,
    // Node would answer a request without a Host header itself.
    http: { requireHostHeader: false },
    frameworkErrors: (error, request, reply) => sendProblem(error, request, reply),
  }) as unknown as App;
  app.decorate('basePath', config.basePath);
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(sendProblem);
  return app;
}

/** Registers what applies to every request. Hooks run in this order. */
function registerHooks(app: App, deps: HttpDeps): void {
  registerRequestId(app);
  traceRequests(app);
  registerSecurityHeaders(app);
  handleConnectionErrors(app);
  closeConnectionsOnStop(app);
  registerJsonBodies(app);
  registerParameterCheck(app);
  registerQueryNameCheck(app);
  registerCors(app, deps.config.corsOrigins);
  redirectBrowsers(app);
  authenticateRequests(app, deps);
  readFromReplica(app, deps.db);
  handleUnknownRoutes(app);
  registerIdempotency(app, deps);
}

/** Registers the description of the API and the console. */
async function registerDocuments(app: App): Promise<void> {
  await app.register(compress, { threshold: 1024, encodings: ['br', 'gzip'] });
  await registerOpenApi(app, { webhooks: describeWebhooks(), readExamples: readApiExamples });
  const webRoot = fileURLToPath(new URL('../../web/dist', import.meta.url));
  await registerReference(app, webRoot);
  await registerConsole(app, webRoot);
}

/** Registers the routes for the operator of the installation. */
function registerAdministration(app: App, deps: Deps): void {
  const { db, clock, config } = deps;
  const operator = nameAdminKey(config.adminKey);
  usageRoutes(app, {
    requireOrgId: (reference) => requireOrgId(db, reference),
    readUsageDays: (orgId, query) => readUsageDays(deps, orgId, query),
    exportUsage: (query) => exportUsage(deps, query),
  });
  limitRoutes(app, { db, clock, operator });
  organizationRoutes(app, {
    db,
    operator,
    createOrganization: (name) => createOrganization(deps, name),
    readUsage: (orgId) => readOrganizationUsage(db, orgId),
    requestErasure: (orgId) => requestErasure(db, { id: orgId }, operator),
    listErasures: (query) => listErasures(db, query),
    readErasure: (orgId) => readErasure(db, orgId),
  });
  packRoutes(app, { ...deps, operator });
  retentionRoutes(app, {
    db,
    keep: config.keep,
    operator,
    eraseFromLogs: (orgId, target) => eraseFromLogs(deps, orgId, target),
    erasers,
  });
}

function registerPlatform(app: App, deps: HttpDeps): void {
  const { db, auth, sessions } = deps;
  registerMetrics(app, deps.metrics);
  healthRoutes(app, { isMigrated: () => isMigrated(db), degradedReasons: () => listDegradedReasons(deps) });
  orgRoutes(app, { db, forgetKey: (keyId) => [auth, sessions].forEach((one) => one.forgetKey(keyId)) });
  sessionRoutes(app, deps);
  personRoutes(app, deps);
  singleSignOnRoutes(app, deps);
  viewRoutes(app, deps);
  modelRoutes(app, deps);
  mcpRoutes(app, deps);
  destinationRoutes(app, deps);
  eventRoutes(app, deps);
}

function registerDetections(app: App, deps: Deps): void {
  detectionRoutes(app, deps);
  summaryRoutes(app, deps);
  suggestionRoutes(app, deps);
  agentRoutes(app, deps);
  exceptionRoutes(app, deps);
  promptRoutes(app, deps);
  revisionRoutes(app, deps);
  bulkRoutes(app, deps);
  libraryRoutes(app, deps);
  sigmaRoutes(app, deps);
  testingRoutes(app, deps, (key) => repeatRehearsals(deps, key));
  runRoutes(app, deps);
  continuousRoutes(app, deps);
  runDetailRoutes(app, deps);
  toolRoutes(app, deps);
  agentSettingsRoutes(app, deps);
  hitRoutes(app, deps);
  incidentRoutes(app, { ...deps, findTechnique, listTactics });
  incidentReportRoutes(app, { ...deps, findTechnique, listTactics });
  huntRoutes(app, { ...deps, findTechnique, listTactics });
  reviewQueueRoutes(app, deps);
  entityNoteRoutes(app, deps);
  valueListRoutes(app, deps);
  skillRoutes(app, deps);
  ruleSourceRoutes(app, deps);
  connectionRoutes(app, deps);
  enricherRoutes(app, deps);
}

function registerLogs(app: App, deps: Deps): void {
  searchRoutes(app, deps);
  datasetRoutes(app, deps);
  shipperSourceRoutes(app);
  columnRoutes(app, deps);
  receiveLogsRoutes(app, deps);
  elasticsearchRoutes(app, deps);
  hecRoutes(app, deps);
  otlpRoutes(app, deps);
  lokiRoutes(app, deps);
}

function registerFeed(app: App, deps: Deps): void {
  itemRoutes(app, deps);
  relevanceRoutes(app, deps);
  indicatorRoutes(app, deps);
  entityRoutes(app, deps);
  storyRoutes(app, deps);
  digestRoutes(app, deps);
  sourceRoutes(app, deps);
  postItemRoutes(app, deps);
  readingRoutes(app, deps);
  taxiiRoutes(app, deps);
  exportRoutes(app, deps);
  curationRoutes(app, deps);
}

/** Registers the routes of the agents and of the pages where detections and the feed meet. */
function registerAgents(app: App, deps: Deps): void {
  agentRunRoutes(app, deps);
  draftingRoutes(app, deps);
  sightingRoutes(app, deps);
  sourceWorthRoutes(app, deps);
  overviewRoutes(app, deps);
  coverageRoutes(app, deps);
  rehearsalRoutes(app, deps);
  contextRoutes(app, deps);
  mcpEndpointRoutes(app, deps);
}

/** Returns the examples of the API. `npm run examples` records them. */
export const readApiExamples = (): ApiExamples =>
  JSON.parse(readFileSync(new URL('api-examples.json', import.meta.url), 'utf8')) as ApiExamples;
