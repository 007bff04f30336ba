import { LogController, fastify } from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import type { App } from '../../platform/http/app-type.ts';
import { isMigrated } from '../../platform/db/migrate.ts';
import { appError } from '../../platform/lib/errors.ts';
import { closeConnectionsOnStop } from '../../platform/http/connections.ts';
import { healthRoutes } from '../../platform/http/health.routes.ts';
import { registerMetrics } from '../metrics.ts';
import { sendProblem } from '../../platform/http/responses/problem.ts';
import { readFromReplica } from '../../platform/http/read-from-replica.ts';
import { readRequestId, registerRequestId } from '../../platform/http/request-log.ts';
import type { Deps } from '../deps.ts';
import { listDegradedReasons } from '../degraded-reasons.ts';

/** Builds the server of a worker: `/healthz`, `/readyz` and `/metrics`, without the API. */
export function buildWorkerServer({
  db,
  clockGuard,
  diskGuard,
  metrics,
  log,
}: Pick<Deps, 'db' | 'clockGuard' | 'diskGuard' | 'metrics' | 'log'>): App {
  const app = fastify({
    loggerInstance: log,
    genReqId: readRequestId,
    logController: new LogController({ requestIdLogLabel: 'requestId', disableRequestLogging: true }),
  }) as unknown as App;
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(sendProblem);
  app.setNotFoundHandler((request, reply) => {
    sendProblem(appError('not_found', 'A worker serves only /healthz, /readyz and /metrics.'), request, reply);
  });
  registerRequestId(app);
  closeConnectionsOnStop(app);
  readFromReplica(app, db);
  registerMetrics(app, metrics);
  healthRoutes(app, {
    isMigrated: () => isMigrated(db),
    degradedReasons: () => listDegradedReasons({ db, clockGuard, diskGuard }),
  });
  return app;
}
