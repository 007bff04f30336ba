import { requireCaller, type App } from '../../platform/http/app-type.ts';
import { IndicatorLookup, IndicatorLookups, IndicatorQuery, LookUpIndicators } from './indicators.schema.ts';
import { lookUpIndicator, lookUpIndicators, type LookupDeps } from './look-up-indicators.ts';

export function indicatorRoutes(app: App, deps: LookupDeps): void {
  app.route({
    method: 'GET',
    url: '/api/indicators',
    config: { scope: 'feed:read' },
    schema: {
      tags: ['feed'],
      summary: 'Look up an indicator in the feed',
      querystring: IndicatorQuery,
      response: { 200: IndicatorLookup },
    },
    handler: (request) => lookUpIndicator(deps, requireCaller(request), request.query.value),
  });
  app.route({
    method: 'POST',
    url: '/api/indicators/lookup',
    config: { scope: 'feed:read' },
    schema: {
      tags: ['feed'],
      summary: 'Look up several indicators in the feed',
      body: LookUpIndicators,
      response: { 200: IndicatorLookups },
    },
    handler: (request) => lookUpIndicators(deps, requireCaller(request), request.body),
  });
}
