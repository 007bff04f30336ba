import type { Deps } from '../../app/deps.ts';
import { callerOf, type App } from '../http/app-type.ts';
import { eraseValue } from './erase-value.ts';
import { Erasure, EraseRequest } from './retention.schema.ts';

export function keepingRoutes(app: App, deps: Deps): void {
  app.route({
    method: 'POST',
    url: '/api/privacy/erase',
    config: { scope: 'privacy:admin' },
    schema: {
      tags: ['service'],
      summary: 'Remove a value from all that is kept',
      body: EraseRequest,
      response: { 200: Erasure },
    },
    handler: (request) => eraseValue(deps, callerOf(request), request.body),
  });
}
