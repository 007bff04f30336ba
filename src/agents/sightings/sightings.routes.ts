import { z } from 'zod';
import { requireCaller, type App } from '../../platform/http/app-type.ts';
import { uuidPattern } from '../../platform/lib/org-id.ts';
import { getSightings, getSweeps, type ReadSightingsDeps } from './read-sightings.ts';
import { ItemSightings, SweepList } from './sightings.schema.ts';

const params = z.object({ id: z.string().regex(uuidPattern, 'must be a UUID') });

export function sightingRoutes(app: App, deps: ReadSightingsDeps): void {
  app.route({
    method: 'GET',
    url: '/api/feed/items/:id/exposures',
    config: { scope: 'feed:read' },
    schema: {
      tags: ['feed'],
      summary: 'List log rows that contain indicators of an item',
      params,
      response: { 200: ItemSightings },
    },
    handler: (request) => getSightings(deps, requireCaller(request), request.params.id.toLowerCase()),
  });
  app.route({
    method: 'GET',
    url: '/api/feed/sweeps',
    config: { scope: 'feed:read' },
    schema: {
      tags: ['feed'],
      summary: 'Get the status of the searches for feed indicators in your logs',
      response: { 200: SweepList },
    },
    handler: (request) => getSweeps(deps, requireCaller(request)),
  });
}
