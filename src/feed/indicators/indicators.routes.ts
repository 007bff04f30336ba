import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { IndicatorLookup, IndicatorLookups, IndicatorQuery, LookUpIndicators } from './indicators.schema.ts';
import { lookUpIndicator, lookUpIndicators, type LookupDeps } from './look-up-indicators.ts';

export function indicatorRoutes(app: App, deps: LookupDeps): void {
  const route = apiRoutes(app, { tag: 'feed', scope: 'feed:read' });
  route(
    'GET /api/indicators',
    {
      operationId: 'lookUpIndicator',
      summary: 'Look up an indicator in the feed',
      query: IndicatorQuery,
      returns: IndicatorLookup,
    },
    ({ caller, query }) => lookUpIndicator(deps, caller, query.value),
  );
  route(
    'POST /api/indicators/lookup',
    {
      operationId: 'lookUpIndicators',
      summary: 'Look up several indicators in the feed',
      body: LookUpIndicators,
      returns: IndicatorLookups,
    },
    ({ caller, body }) => lookUpIndicators(deps, caller, body),
  );
}
