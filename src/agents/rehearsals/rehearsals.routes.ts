import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { disconnectSignal } from '../../platform/http/connections.ts';
import { listRehearsals, postRehearsal } from './read-rehearsals.ts';
import { RehearsalList, RehearsalRun, RehearseInput } from './rehearsals.schema.ts';
import type { RehearseDeps } from './rehearse.ts';

export function rehearsalRoutes(app: App, deps: RehearseDeps): void {
  const route = apiRoutes(app, { tag: 'detections', scope: 'detections:read' });
  route(
    'GET /api/rehearsals',
    {
      operationId: 'listRehearsals',
      summary: 'List what the last rehearsal of each ATT&CK technique showed',
      returns: RehearsalList,
    },
    ({ caller }) => listRehearsals(deps, caller),
  );
  route(
    'POST /api/rehearsals',
    {
      operationId: 'rehearse',
      summary: 'Rehearse a technique or the techniques of a feed item with all enabled detections',
      description:
        "Makes synthetic events of the attack in the form of the organization's own logs and sends them through query, analysis and the built-in analyst of each detection on the log store. They are visible to nothing else. No memory, hit, figure or notification changes.",
      scope: 'detections:run',
      body: RehearseInput,
      returns: RehearsalRun,
    },
    ({ caller, body, reply }) => postRehearsal(deps, caller, body, disconnectSignal(reply)),
  );
}
