import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { EntityNoteList, EntityNotesFilter, EntityNotesInput, EntityNotesStored } from './entity-notes.schema.ts';
import { getEntityNotes, putEntityNotes } from './entity-notes.ts';

export function entityNoteRoutes(app: App, deps: Parameters<typeof putEntityNotes>[0]): void {
  const route = apiRoutes(app, { tag: 'hits', scope: 'detections:write' });
  route(
    'GET /api/entity-notes',
    {
      operationId: 'listEntityNotes',
      summary: 'List the notes on entities, last changed first',
      scope: 'detections:read',
      query: EntityNotesFilter,
      returns: EntityNoteList,
    },
    ({ caller, query }) => getEntityNotes(deps, caller, query),
  );
  route(
    'PUT /api/entity-notes',
    {
      operationId: 'setEntityNotes',
      summary: 'Set or remove notes on entities',
      body: EntityNotesInput,
      returns: EntityNotesStored,
    },
    ({ caller, body }) => putEntityNotes(deps, caller, body),
  );
}
