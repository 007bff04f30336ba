import { z } from 'zod';
import type { Deps } from '../../app/deps.ts';
import { callerOf, type App } from '../../platform/http/app-type.ts';
import { uuidPattern } from '../../platform/lib/org-id.ts';
import { getExposures, getSweeps } from './read-sightings.ts';
import { ItemExposures, Sweeps } from './sightings.schema.ts';

const params = z.object({ id: z.string().regex(uuidPattern, 'must be a UUID') });

export function exposureRoutes(app: App, deps: Deps): void {
  app.route({
    method: 'GET',
    url: '/api/feed/items/:id/exposures',
    config: { scope: 'feed:read' },
    schema: {
      tags: ['feed'],
      summary: 'Rows of the own logs that hold indicators of an item',
      params,
      response: { 200: ItemExposures },
    },
    handler: (request) => getExposures(deps, callerOf(request), request.params.id.toLowerCase()),
  });
  app.route({
    method: 'GET',
    url: '/api/feed/sweeps',
    config: { scope: 'feed:read' },
    schema: {
      tags: ['feed'],
      summary: 'How the search of the own logs for new indicators goes',
      response: { 200: Sweeps },
    },
    handler: (request) => getSweeps(deps, callerOf(request)),
  });
}
