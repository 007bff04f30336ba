import type { CreateDetectionDeps } from '../create-detection.ts';
import type { App } from '../../../platform/http/app-type.ts';
import { apiRoutes } from '../../../platform/http/api-routes.ts';
import { PageQuery } from '../../../platform/lib/page-request.ts';
import { createSuggestion } from './create-suggestion.ts';
import {
  CreateSuggestion,
  DismissSuggestion,
  IdPath,
  UpdateDetection,
  ValidateQuery,
} from '../record/detection-input.schema.ts';
import { acceptSuggestion, dismissSuggestion } from '../life-cycle.ts';
import { getDismissed, getSuggestions } from '../read-detections.ts';
import { Detection, DismissedList, SuggestionList } from '../record/detection.schema.ts';

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
    ({ caller, params, body, request }) =>
      acceptSuggestion(deps, caller, { id: params.id, ifMatch: request.headers['if-match'] }, body),
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
    ({ caller, params, body, request }) =>
      dismissSuggestion(deps, caller, { id: params.id, ifMatch: request.headers['if-match'] }, body),
  );
}
