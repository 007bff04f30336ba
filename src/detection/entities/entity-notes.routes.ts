import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import {
  AliasInput,
  AliasPath,
  AliasQuery,
  EntityAliases,
  EntityPath,
  EntityNoteList,
  EntityNotesFilter,
  EntityNotesInput,
  EntityNotesStored,
} from './entities.schema.ts';
import { joinAlias, separateAlias } from './entity-aliases.ts';
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
  aliasRoutes(app, deps);
}

function aliasRoutes(app: App, deps: Parameters<typeof joinAlias>[0]): void {
  const route = apiRoutes(app, { tag: 'hits', scope: 'hits:write' });
  route(
    'POST /api/entities/:type/:name/aliases',
    {
      operationId: 'joinEntityAlias',
      summary: 'Join a name and its other names with an entity',
      description: 'Remembered until somebody separates the name. It also takes a separation back.',
      params: EntityPath,
      body: AliasInput,
      returns: EntityAliases,
    },
    ({ caller, params, body }) => joinAlias(deps, caller, params, body),
  );
  route(
    'DELETE /api/entities/:type/:name/aliases/:alias',
    {
      operationId: 'separateEntityAlias',
      summary: 'Separate an alias from an entity',
      description: 'Remembered until somebody joins the name again: no rule and no list joins it.',
      params: AliasPath,
      query: AliasQuery,
      returns: EntityAliases,
    },
    ({ caller, params, query }) => separateAlias(deps, caller, params, query),
  );
}
