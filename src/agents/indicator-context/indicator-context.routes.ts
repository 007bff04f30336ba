import { IndicatorQuery } from '../../feed/indicators/indicators.schema.ts';
import type { LookupDeps } from '../../feed/indicators/look-up-indicators.ts';
import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { IndicatorContext } from './indicator-context.schema.ts';
import { getIndicatorContext } from './read-indicator-context.ts';

export function indicatorContextRoutes(app: App, deps: LookupDeps): void {
  apiRoutes(app, { tag: 'feed', scope: 'feed:read' })(
    'GET /api/indicators/context',
    {
      operationId: 'getIndicatorContext',
      summary: 'Get everything that is known of an indicator: feed items, sightings in the logs, and hits',
      query: IndicatorQuery,
      returns: IndicatorContext,
    },
    ({ caller, query }) => getIndicatorContext(deps, caller, query.value),
  );
}
