import { apiRoutes } from '../../platform/http/api-routes.ts';
import type { App } from '../../platform/http/app-type.ts';
import { InstallRequest, InstallResult, LibraryList, UpdateRequest, UpdateResult } from './library.schema.ts';
import { listLibrary } from './list-library.ts';
import { installLibrary, updateLibrary, type SyncLibraryDeps } from './sync-library.ts';

export function libraryRoutes(app: App, deps: SyncLibraryDeps): void {
  const route = apiRoutes(app, { tag: 'detections', scope: 'detections:write' });
  route(
    'GET /api/detections/library',
    {
      operationId: 'listShippedDetections',
      summary: 'List the shipped detections by log source',
      description: 'Reports what each detection needs, whether your logs have it, and whether it is installed.',
      scope: 'detections:read',
      returns: LibraryList,
    },
    ({ caller }) => listLibrary(deps, caller),
  );
  route(
    'POST /api/detections/library/install',
    {
      operationId: 'installShippedDetections',
      summary: 'Install shipped detections',
      description: 'A detection that is already installed stays as it is.',
      body: InstallRequest,
      returns: InstallResult,
    },
    ({ caller, body }) => installLibrary(deps, caller, body),
  );
  route(
    'POST /api/detections/library/update',
    {
      operationId: 'updateShippedDetections',
      summary: 'Update installed detections to the shipped version',
      description: 'Fields that you edited keep your value and are reported.',
      body: UpdateRequest,
      returns: UpdateResult,
    },
    ({ caller, body }) => updateLibrary(deps, caller, body),
  );
}
