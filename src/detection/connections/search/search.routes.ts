import type { App } from '../../../platform/http/app-type.ts';
import { apiRoutes } from '../../../platform/http/api-routes.ts';
import { disconnectSignal } from '../../../platform/http/connections.ts';
import { searchWindow, type SearchWindowDeps } from './search-window.ts';
import { SearchInput, SearchRows } from './search.schema.ts';

export function searchRoutes(app: App, deps: SearchWindowDeps): void {
  apiRoutes(app, { tag: 'logs', scope: 'detections:run' })(
    'POST /api/logs/search',
    {
      operationId: 'searchLogs',
      summary: 'Run a query over a time window and return its rows',
      description:
        'The query is checked and isolated as those of detections are. A column that no event has is null, with a warning. It takes at most 30 seconds, and ends when the client disconnects. A query that cannot run is a 422 with the reason, a SIEM that fails a 503.',
      body: SearchInput,
      returns: SearchRows,
    },
    ({ caller, body, reply }) => searchWindow(deps, caller, body, disconnectSignal(reply)),
  );
}
