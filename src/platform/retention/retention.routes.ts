import type { App } from '../http/app-type.ts';
import { apiRoutes } from '../http/api-routes.ts';
import { eraseValue, type EraseValueDeps } from './erase-value.ts';
import { Erasure, EraseRequest, RetentionPeriods } from './retention.schema.ts';

export function retentionRoutes(app: App, deps: EraseValueDeps & { keep: RetentionPeriods }): void {
  const route = apiRoutes(app, { tag: 'service', scope: 'privacy:admin' });
  route(
    'POST /api/privacy/erase',
    { operationId: 'eraseValue', summary: 'Erase a value from all stored data', body: EraseRequest, returns: Erasure },
    ({ caller, body }) => eraseValue(deps, caller, body),
  );
  route(
    'GET /api/privacy/retention',
    {
      operationId: 'getRetention',
      summary: 'Get how long each kind of data is kept',
      scope: 'detections:read',
      returns: RetentionPeriods,
    },
    async () => deps.keep,
  );
}
