import type { Deps } from '../../app/deps.ts';
import { IdPath } from '../detections/record/detection-input.ts';
import { callerOf, type App } from '../../platform/http/app-type.ts';
import { PageQuery } from '../../platform/lib/page-request.ts';
import { Agreement, ModelList, Replay, ReplayRequest, Shadow, ShadowInput, StepList } from './run-details.schema.ts';
import { getAgreement } from './reviews/agreement.ts';
import { getModels } from '../../platform/models/model-list.ts';
import { replayRun } from './reviews/replay-run.ts';
import { endShadow, getShadow, setShadow } from './reviews/shadow.ts';
import { getSteps } from './read-steps.ts';

const read = { scope: 'detections:read' } as const;
const write = { scope: 'detections:write' } as const;

export function runAgentRoutes(app: App, deps: Deps): void {
  app.route({
    method: 'GET',
    url: '/api/runs/:id/steps',
    config: read,
    schema: {
      tags: ['runs'],
      summary: 'What model and tools did in a run, in order',
      params: IdPath,
      querystring: PageQuery,
      response: { 200: StepList },
    },
    handler: (request) => getSteps(deps, callerOf(request), request.params.id, request.query),
  });
  app.route({
    method: 'POST',
    url: '/api/runs/:id/replay',
    config: { scope: 'detections:run', bodyOptional: true },
    schema: {
      tags: ['runs'],
      summary: "Judge a run's candidates again under another prompt version or model",
      params: IdPath,
      body: ReplayRequest,
      response: { 200: Replay },
    },
    handler: (request) => replayRun(deps, callerOf(request), request.params.id, request.body),
  });
  app.route({
    method: 'GET',
    url: '/api/detections/:id/agreement',
    config: read,
    schema: {
      tags: ['runs'],
      summary: 'How often the judge model agrees with what people say of hits',
      params: IdPath,
      response: { 200: Agreement },
    },
    handler: (request) => getAgreement(deps, callerOf(request), request.params.id),
  });
  const shadow = { tags: ['runs'], params: IdPath, response: { 200: Shadow } };
  app.route({
    method: 'GET',
    url: '/api/detections/:id/shadow',
    config: read,
    schema: { ...shadow, summary: 'Where a second version that judges alongside differs' },
    handler: (request) => getShadow(deps, callerOf(request), request.params.id),
  });
  app.route({
    method: 'PUT',
    url: '/api/detections/:id/shadow',
    config: write,
    schema: { ...shadow, summary: 'Let another prompt version or model judge alongside', body: ShadowInput },
    handler: (request) => setShadow(deps, callerOf(request), request.params.id, request.body),
  });
  app.route({
    method: 'DELETE',
    url: '/api/detections/:id/shadow',
    config: { ...write, noBody: true },
    schema: { ...shadow, summary: 'End the second version; its differences stay' },
    handler: (request) => endShadow(deps, callerOf(request), request.params.id),
  });
  app.route({
    method: 'GET',
    url: '/api/models',
    config: read,
    schema: { tags: ['models'], summary: 'List model aliases', response: { 200: ModelList } },
    handler: (request) => getModels(deps, callerOf(request)),
  });
}
