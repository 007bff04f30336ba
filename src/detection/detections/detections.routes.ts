import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { hasIgnoredNames } from '../../platform/http/unknown-routes.ts';
import { sendPage, type PageCache } from '../../platform/http/responses/cached-pages.ts';
import { createDetection, type CreateDetectionDeps, createSuggestion } from './create-detection.ts';
import {
  CreateDetection,
  DetectionFilter,
  IdPath,
  SaveQuery,
  UpdateDetection,
  ValidateQuery,
  CreateSuggestion,
  DismissSuggestion,
} from './record/detection-input.schema.ts';
import { deleteDetection, restoreDetection, acceptSuggestion, dismissSuggestion } from './life-cycle.ts';
import {
  getDetection,
  getDetectionList,
  getDetections,
  getDismissed,
  getSuggestions,
  isWholeList,
} from './read-detections.ts';
import { Detection, DetectionList, DismissedList, SuggestionList } from './record/detection.schema.ts';
import { updateDetection, type UpdateDetectionDeps } from './update-detection.ts';
import { CategoryList, listCategories } from '../analysis/category-tuning.ts';
import { PageQuery } from '../../platform/lib/page-request.ts';

export function detectionRoutes(app: App, deps: UpdateDetectionDeps & { detectionLists: PageCache }): void {
  const route = apiRoutes(app, { tag: 'detections', scope: 'detections:write' });
  route(
    'GET /api/detections',
    {
      operationId: 'listDetections',
      summary: 'List detections, newest first',
      description: 'Without `limit` and `cursor`, all detections, with an `ETag` for `If-None-Match` (304).',
      scope: 'detections:read',
      query: DetectionFilter,
      returns: DetectionList,
      ignoresUnknownQuery: true,
    },
    async ({ caller, query, request, reply }) =>
      isWholeList(query) && !hasIgnoredNames(request)
        ? sendPage(request, reply, await getDetectionList(deps, caller, query))
        : getDetections(deps, caller, query),
  );
  route(
    'GET /api/categories',
    {
      operationId: 'listCategories',
      summary: 'List the categories of detections, with the tuning that each uses',
      scope: 'detections:read',
      returns: CategoryList,
    },
    listCategories,
  );
  route(
    'POST /api/detections',
    {
      operationId: 'createDetection',
      summary: 'Create a detection',
      query: ValidateQuery,
      body: CreateDetection,
      returns: Detection,
      hasEtag: true,
      ignoresUnknownQuery: true,
    },
    ({ caller, query, body }) => createDetection(deps, caller, body, query.validate === 'true'),
  );
  route(
    'GET /api/detections/:id',
    {
      operationId: 'getDetection',
      summary: 'Get a detection or suggestion, deleted or not',
      scope: 'detections:read',
      params: IdPath,
      returns: Detection,
      hasEtag: true,
    },
    ({ caller, params }) => getDetection(deps, caller, params.id),
  );
  route(
    'PUT /api/detections/:id',
    {
      operationId: 'updateDetection',
      summary: 'Change a detection or an open suggestion. Absent fields are unchanged',
      params: IdPath,
      query: SaveQuery,
      body: UpdateDetection,
      returns: Detection,
      hasEtag: true,
      acceptsIfMatch: true,
      ignoresUnknownQuery: true,
    },
    ({ caller, params, query, body, ifMatch }) => {
      const options = {
        validate: query.validate === 'true',
        requireTests: query.require === 'tests',
        ifMatch,
      };
      const change = { id: params.id, input: body };
      return updateDetection(deps, caller, change, options);
    },
  );
  route(
    'DELETE /api/detections/:id',
    {
      operationId: 'deleteDetection',
      summary: 'Delete a detection or dismiss a suggestion. Both can be restored',
      params: IdPath,
      returns: Detection,
      hasEtag: true,
      acceptsIfMatch: true,
    },
    ({ caller, params, ifMatch }) => deleteDetection(deps, caller, params.id, ifMatch),
  );
  route(
    'POST /api/detections/:id/restore',
    {
      operationId: 'restoreDetection',
      summary: 'Restore a deleted detection or a dismissed suggestion',
      ignoresUnknownQuery: true,
      params: IdPath,
      returns: Detection,
      hasEtag: true,
      acceptsIfMatch: true,
    },
    ({ caller, params, ifMatch }) => restoreDetection(deps, caller, params.id, ifMatch),
  );
}

export function suggestionRoutes(app: App, deps: CreateDetectionDeps): void {
  const route = apiRoutes(app, { tag: 'detections', scope: 'detections:write' });
  route(
    'GET /api/detections/suggestions',
    {
      operationId: 'listSuggestions',
      summary: 'List open suggestions, newest first',
      scope: 'detections:read',
      query: PageQuery,
      returns: SuggestionList,
    },
    ({ caller, query }) => getSuggestions(deps, caller, query),
  );
  route(
    'POST /api/detections/suggestions',
    {
      operationId: 'createSuggestion',
      summary: 'Suggest a detection',
      query: ValidateQuery,
      body: CreateSuggestion,
      returns: Detection,
      hasEtag: true,
    },
    ({ caller, query, body }) => {
      const options = { validate: query.validate === 'true' };
      return createSuggestion(deps, caller, body, options);
    },
  );
  route(
    'GET /api/detections/suggestions/dismissed',
    {
      operationId: 'listDismissedSuggestions',
      summary: 'List dismissed suggestions, most recently dismissed first',
      scope: 'detections:read',
      returns: DismissedList,
      ignoresUnknownQuery: true,
    },
    ({ caller }) => getDismissed(deps, caller),
  );
  route(
    'POST /api/detections/:id/accept',
    {
      operationId: 'acceptSuggestion',
      summary: 'Accept a suggestion as a detection, with optional changes',
      isBodyOptional: true,
      params: IdPath,
      body: UpdateDetection,
      returns: Detection,
      hasEtag: true,
      acceptsIfMatch: true,
    },
    ({ caller, params, body, ifMatch }) => acceptSuggestion(deps, caller, { id: params.id, ifMatch }, body),
  );
  route(
    'POST /api/detections/:id/dismiss',
    {
      operationId: 'dismissSuggestion',
      summary: 'Dismiss a suggestion',
      isBodyOptional: true,
      params: IdPath,
      body: DismissSuggestion,
      returns: Detection,
      hasEtag: true,
      acceptsIfMatch: true,
    },
    ({ caller, params, body, ifMatch }) => dismissSuggestion(deps, caller, { id: params.id, ifMatch }, body),
  );
}
