import { apiRoutes } from '../../platform/http/api-routes.ts';
import type { App } from '../../platform/http/app-type.ts';
import { listSourceWorth, SourceWorthList, SourceWorthQuery, type SourceWorthDeps } from './list-source-worth.ts';

export function sourceWorthRoutes(app: App, deps: SourceWorthDeps): void {
  const route = apiRoutes(app, { tag: 'sources', scope: 'feed:read' });
  route(
    'GET /api/feed/sources/worth',
    {
      operationId: 'listSourceWorth',
      summary: 'List what each source contributes that the others do not',
      description:
        'Compares what a source added in the last days with the other sources that you see, with your logs and with your hits. The time that counts is that of the arrival in the feed.',
      query: SourceWorthQuery,
      returns: SourceWorthList,
    },
    ({ caller, query }) => listSourceWorth(deps, caller, query),
  );
}
