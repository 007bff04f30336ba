import type { Deps } from '../../app/deps.ts';
import { callerOf, type App } from '../../platform/http/app-type.ts';
import { lookUpIndicator, lookUpIndicators } from './look-up-indicators.ts';
import { IndicatorLookup, IndicatorLookups, IndicatorQuery, LookUpIndicators } from './indicators.schema.ts';

export function indicatorRoutes(app: App, deps: Deps): void {
  app.route({
    method: 'GET',
    url: '/api/indicators',
    config: { scope: 'feed:read' },
    schema: {
      tags: ['feed'],
      summary: 'What the feed says of an indicator',
      querystring: IndicatorQuery,
      response: { 200: IndicatorLookup },
    },
    handler: (request) => lookUpIndicator(deps, callerOf(request), request.query.value),
  });
  app.route({
    method: 'POST',
    url: '/api/indicators/lookup',
    config: { scope: 'feed:read' },
    schema: {
      tags: ['feed'],
      summary: 'What the feed says of several indicators',
      body: LookUpIndicators,
      response: { 200: IndicatorLookups },
    },
    handler: (request) => lookUpIndicators(deps, callerOf(request), request.body),
  });
}
