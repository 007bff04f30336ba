import type { ModelAliases } from '../record/check-model-alias.ts';
import type { HistoryDeps } from './history.ts';
import { requireCaller, type App } from '../../../platform/http/app-type.ts';
import { PageQuery } from '../../../platform/lib/page-request.ts';
import {
  DiffQuery,
  NewPrompt,
  PromptDiff,
  PromptList,
  PromptPath,
  PromptVersion,
  Revision,
  RevisionDiff,
  RevisionList,
  RevisionPath,
} from './history.schema.ts';
import { IdPath } from '../record/detection-input.schema.ts';
import { activatePrompt, diffPrompts, getPrompt, getPrompts, writePrompt } from './prompts.ts';
import { diffRevisions, getRevision, getRevisions, restoreRevision } from './revisions.ts';
import { withEtag } from '../detections.routes.ts';
import { Detection } from '../record/detection.schema.ts';

const tags = ['detections'];
const read = { scope: 'detections:read' } as const;
const write = { scope: 'detections:write' } as const;

export function promptRoutes(app: App, deps: HistoryDeps): void {
  app.route({
    method: 'GET',
    url: '/api/detections/:id/prompts',
    config: read,
    schema: {
      tags,
      summary: 'List the versions of a prompt, newest first',
      params: IdPath,
      querystring: PageQuery,
      response: { 200: PromptList },
    },
    handler: (request) => getPrompts(deps, requireCaller(request), request.params.id, request.query),
  });
  app.route({
    method: 'POST',
    url: '/api/detections/:id/prompts',
    config: write,
    schema: {
      tags,
      summary: 'Write the next version of a prompt without activating it',
      params: IdPath,
      body: NewPrompt,
      response: { 200: PromptVersion },
    },
    handler: (request) => writePrompt(deps, requireCaller(request), request.params.id, request.body),
  });
  app.route({
    method: 'GET',
    url: '/api/detections/:id/prompts/diff',
    config: read,
    schema: {
      tags,
      summary: 'Compare two versions of a prompt line by line',
      params: IdPath,
      querystring: DiffQuery,
      response: { 200: PromptDiff },
    },
    handler: (request) => diffPrompts(deps, requireCaller(request), request.params.id, request.query),
  });
  app.route({
    method: 'GET',
    url: '/api/detections/:id/prompts/:version',
    config: read,
    schema: { tags, summary: 'Get one version of a prompt', params: PromptPath, response: { 200: PromptVersion } },
    handler: (request) => getPrompt(deps, requireCaller(request), request.params.id, request.params.version),
  });
  app.route({
    method: 'POST',
    url: '/api/detections/:id/prompts/:version/activate',
    config: { ...write, ignoresBody: true },
    schema: {
      tags,
      summary: 'Activate a version of a prompt',
      params: PromptPath,
      response: { 200: Detection },
    },
    handler: async (request, reply) =>
      withEtag(reply, await activatePrompt(deps, requireCaller(request), request.params, request.headers['if-match'])),
  });
}

export function revisionRoutes(app: App, deps: HistoryDeps & { models?: ModelAliases }): void {
  app.route({
    method: 'GET',
    url: '/api/detections/:id/revisions',
    config: read,
    schema: {
      tags,
      summary: 'List the revisions of a detection, newest first',
      params: IdPath,
      querystring: PageQuery,
      response: { 200: RevisionList },
    },
    handler: (request) => getRevisions(deps, requireCaller(request), request.params.id, request.query),
  });
  app.route({
    method: 'GET',
    url: '/api/detections/:id/revisions/diff',
    config: read,
    schema: {
      tags,
      summary: 'Compare two revisions of a detection field by field',
      params: IdPath,
      querystring: DiffQuery,
      response: { 200: RevisionDiff },
    },
    handler: (request) => diffRevisions(deps, requireCaller(request), request.params.id, request.query),
  });
  app.route({
    method: 'GET',
    url: '/api/detections/:id/revisions/:revision',
    config: read,
    schema: { tags, summary: 'Get one revision of a detection', params: RevisionPath, response: { 200: Revision } },
    handler: (request) => getRevision(deps, requireCaller(request), request.params.id, request.params.revision),
  });
  app.route({
    method: 'POST',
    url: '/api/detections/:id/revisions/:revision/restore',
    config: { ...write, ignoresBody: true },
    schema: {
      tags,
      summary: 'Restore an older revision of a detection as a new revision',
      params: RevisionPath,
      response: { 200: Detection },
    },
    handler: async (request, reply) =>
      withEtag(reply, await restoreRevision(deps, requireCaller(request), request.params, request.headers['if-match'])),
  });
}
