import { requireCaller, type App } from '../http/app-type.ts';
import { eraseValue, type EraseValueDeps } from './erase-value.ts';
import { Erasure, EraseRequest } from './retention.schema.ts';

export function retentionRoutes(app: App, deps: EraseValueDeps): void {
  app.route({
    method: 'POST',
    url: '/api/privacy/erase',
    config: { scope: 'privacy:admin' },
    schema: {
      tags: ['service'],
      summary: 'Erase a value from all stored data',
      body: EraseRequest,
      response: { 200: Erasure },
    },
    handler: (request) => eraseValue(deps, requireCaller(request), request.body),
  });
}
