import type { App } from '../http/app-type.ts';
import { apiRoutes } from '../http/api-routes.ts';
import type { Enrich } from './enrich.ts';
import {
  Enricher,
  EnricherInput,
  EnricherList,
  EnricherPath,
  EnrichmentList,
  LookUpValues,
  getEnrichers,
  putEnricher,
  removeEnricher,
  type EnricherDeps,
} from './enrichers.ts';
import { withIsoTimes } from '../lib/time/clock.ts';

export function enricherRoutes(app: App, deps: EnricherDeps & { enrich: Enrich }): void {
  const route = apiRoutes(app, { tag: 'connections', scope: 'connections:admin' });
  route(
    'GET /api/enrichers',
    {
      operationId: 'listEnrichers',
      summary: 'List the enrichers by name, and the kinds that exist',
      returns: EnricherList,
    },
    ({ caller }) => getEnrichers(deps, caller),
  );
  route(
    'PUT /api/enrichers/:name',
    {
      operationId: 'setEnricher',
      summary: 'Create or replace an enricher',
      params: EnricherPath,
      body: EnricherInput,
      returns: Enricher,
      hasEtag: true,
      acceptsIfMatch: true,
    },
    ({ caller, params, body, ifMatch }) => putEnricher(deps, caller, params.name, { ...body, ifMatch }),
  );
  route(
    'DELETE /api/enrichers/:name',
    {
      operationId: 'deleteEnricher',
      summary: 'Delete an enricher with its answers',
      params: EnricherPath,
      returns: Enricher,
    },
    ({ caller, params }) => removeEnricher(deps, caller, params.name),
  );
  route(
    'POST /api/enrichments',
    {
      operationId: 'lookUpEnrichments',
      summary: 'Look up values with the enrichers',
      scope: 'feed:read',
      body: LookUpValues,
      returns: EnrichmentList,
    },
    async ({ caller, body }) => {
      const found = await deps.enrich.lookUp(caller.orgId, body.values, AbortSignal.timeout(lookUpMs));
      return { enrichments: found.map(withIsoTimes) };
    },
  );
}

const lookUpMs = 15_000;
