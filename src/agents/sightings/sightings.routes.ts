import { z } from 'zod';
import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { uuidPattern } from '../../platform/lib/org-id.ts';
import { getSightings, getSweeps, type ReadSightingsDeps } from './read-sightings.ts';
import { ItemSightings, SweepList } from './sightings.schema.ts';

const params = z.object({ id: z.string().regex(uuidPattern, 'must be a UUID') });

export function sightingRoutes(app: App, deps: ReadSightingsDeps): void {
  const route = apiRoutes(app, { tag: 'feed', scope: 'feed:read' });
  route(
    'GET /api/feed/items/:id/sightings',
    {
      operationId: 'listItemSightings',
      summary: 'List log rows that contain indicators of an item',
      description:
        'An item is searched when it is added or changes, in the events of the 30 days before. Events of the embedded log store that arrive later are compared with it as well. Sightings of values that turn out to be harmless or retracted are withdrawn.',
      params: params,
      returns: ItemSightings,
    },
    ({ caller, params }) => getSightings(deps, caller, params.id.toLowerCase()),
  );
  route(
    'GET /api/feed/sweeps',
    {
      operationId: 'listSweeps',
      summary: 'Get the status of the searches for feed indicators in your logs',
      returns: SweepList,
    },
    ({ caller }) => getSweeps(deps, caller),
  );
}
