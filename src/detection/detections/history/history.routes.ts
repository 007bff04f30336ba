import type { ModelAliases } from '../record/build-detection.ts';
import { type HistoryDeps, activatePrompt, diffPrompts, getPrompt, getPrompts, writePrompt } from './prompts.ts';
import type { App } from '../../../platform/http/app-type.ts';
import { apiRoutes } from '../../../platform/http/api-routes.ts';
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
import { diffRevisions, getRevision, getRevisions, restoreRevision } from './revisions.ts';
import { Detection } from '../record/detection.schema.ts';

export function promptRoutes(app: App, deps: HistoryDeps): void {
  const route = apiRoutes(app, { tag: 'detections', scope: 'detections:read' });
  route(
    'GET /api/detections/:id/prompts',
    {
      operationId: 'listPrompts',
      summary: 'List the versions of the prompt of a detection or response agent, newest first',
      params: IdPath,
      query: PageQuery,
      returns: PromptList,
    },
    ({ caller, params, query }) => getPrompts(deps, caller, params.id, query),
  );
  route(
    'POST /api/detections/:id/prompts',
    {
      operationId: 'createPrompt',
      summary: 'Write the next version of a prompt without activating it',
      scope: 'detections:write',
      params: IdPath,
      body: NewPrompt,
      returns: PromptVersion,
    },
    ({ caller, params, body }) => writePrompt(deps, caller, params.id, body),
  );
  route(
    'GET /api/detections/:id/prompts/diff',
    {
      operationId: 'comparePrompts',
      summary: 'Compare two versions of a prompt line by line',
      params: IdPath,
      query: DiffQuery,
      returns: PromptDiff,
    },
    ({ caller, params, query }) => diffPrompts(deps, caller, params.id, query),
  );
  route(
    'GET /api/detections/:id/prompts/:version',
    { operationId: 'getPrompt', summary: 'Get one version of a prompt', params: PromptPath, returns: PromptVersion },
    ({ caller, params }) => getPrompt(deps, caller, params.id, params.version),
  );
  route(
    'POST /api/detections/:id/prompts/:version/activate',
    {
      operationId: 'activatePrompt',
      summary: 'Activate a version of a prompt',
      scope: 'detections:write',
      params: PromptPath,
      returns: Detection,
      hasEtag: true,
      acceptsIfMatch: true,
    },
    ({ caller, params, ifMatch }) => activatePrompt(deps, caller, params, ifMatch),
  );
}

export function revisionRoutes(app: App, deps: HistoryDeps & { models?: ModelAliases }): void {
  const route = apiRoutes(app, { tag: 'detections', scope: 'detections:read' });
  route(
    'GET /api/detections/:id/revisions',
    {
      operationId: 'listRevisions',
      summary: 'List the revisions of a detection or response agent, newest first',
      params: IdPath,
      query: PageQuery,
      returns: RevisionList,
    },
    ({ caller, params, query }) => getRevisions(deps, caller, params.id, query),
  );
  route(
    'GET /api/detections/:id/revisions/diff',
    {
      operationId: 'compareRevisions',
      summary: 'Compare two revisions field by field',
      params: IdPath,
      query: DiffQuery,
      returns: RevisionDiff,
    },
    ({ caller, params, query }) => diffRevisions(deps, caller, params.id, query),
  );
  route(
    'GET /api/detections/:id/revisions/:revision',
    {
      operationId: 'getRevision',
      summary: 'Get one revision of a detection or response agent',
      params: RevisionPath,
      returns: Revision,
    },
    ({ caller, params }) => getRevision(deps, caller, params.id, params.revision),
  );
  route(
    'POST /api/detections/:id/revisions/:revision/restore',
    {
      operationId: 'restoreRevision',
      summary: 'Restore an older revision as a new revision',
      scope: 'detections:write',
      params: RevisionPath,
      returns: Detection,
      hasEtag: true,
      acceptsIfMatch: true,
    },
    ({ caller, params, ifMatch }) => restoreRevision(deps, caller, params, ifMatch),
  );
}
