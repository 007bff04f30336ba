import type { CreateDetectionDeps } from '../create-detection.ts';
import { requireCaller, type App } from '../../../platform/http/app-type.ts';
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
import { withEtag } from '../detections.routes.ts';
import { Detection, DismissedList, SuggestionList } from '../record/detection.schema.ts';

const tags = ['detections'];
const read = { scope: 'detections:read' } as const;
const write = { scope: 'detections:write' } as const;

export function suggestionRoutes(app: App, deps: CreateDetectionDeps): void {
  app.route({
    method: 'GET',
    url: '/api/detections/suggestions',
    config: read,
    schema: {
      tags,
      summary: 'List open suggestions, newest first',
      querystring: PageQuery,
      response: { 200: SuggestionList },
    },
    handler: (request) => getSuggestions(deps, requireCaller(request), request.query),
  });
  app.route({
    method: 'POST',
    url: '/api/detections/suggestions',
    config: write,
    schema: {
      tags,
      summary: 'Suggest a detection',
      querystring: ValidateQuery,
      body: CreateSuggestion,
      response: { 200: Detection },
    },
    handler: async (request, reply) => {
      const options = { validate: request.query.validate === 'true' };
      return withEtag(reply, await createSuggestion(deps, requireCaller(request), request.body, options));
    },
  });
  app.route({
    method: 'GET',
    url: '/api/detections/suggestions/dismissed',
    config: read,
    schema: {
      tags,
      summary: 'List dismissed suggestions, most recently dismissed first',
      response: { 200: DismissedList },
    },
    handler: (request) => getDismissed(deps, requireCaller(request)),
  });
  app.route({
    method: 'POST',
    url: '/api/detections/:id/accept',
    config: { ...write, isBodyOptional: true },
    schema: {
      tags,
      summary: 'Accept a suggestion as a detection, with optional changes',
      params: IdPath,
      body: UpdateDetection,
      response: { 200: Detection },
    },
    handler: async (request, reply) =>
      withEtag(reply, await acceptSuggestion(deps, requireCaller(request), request.params.id, request.body)),
  });
  app.route({
    method: 'POST',
    url: '/api/detections/:id/dismiss',
    config: { ...write, isBodyOptional: true },
    schema: {
      tags,
      summary: 'Dismiss a suggestion',
      params: IdPath,
      body: DismissSuggestion,
      response: { 200: Detection },
    },
    handler: async (request, reply) =>
      withEtag(reply, await dismissSuggestion(deps, requireCaller(request), request.params.id, request.body)),
  });
}
