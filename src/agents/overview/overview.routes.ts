import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { Overview } from './overview.schema.ts';
import { createRunDayReader, getOverview, type OverviewDeps } from './read-overview.ts';

export function overviewRoutes(app: App, deps: Omit<OverviewDeps, 'readRunDays'>): void {
  const readRunDays = createRunDayReader();
  apiRoutes(app, { tag: 'service', scope: 'detections:read' })(
    'GET /api/overview',
    {
      operationId: 'getOverview',
      summary: 'Get what needs a person now, and the runs, hits and precision of the last 30 days',
      description:
        'Open hits by severity and age, detections by health, gaps, paused connections and models, failing destinations, waiting suggestions, budgets, the feed by severity with failing and silent sources, and daily figures. `hits` and `feed` are null if the key lacks their scope.',
      returns: Overview,
    },
    ({ caller }) => getOverview({ ...deps, readRunDays }, caller),
  );
}
