import { IdPath } from '../detections/record/detection-input.schema.ts';
import { requireCaller, type App } from '../../platform/http/app-type.ts';
import { PageQuery } from '../../platform/lib/page-request.ts';
import { Agreement, Replay, ReplayRequest, Shadow, ShadowInput, StepList } from './run-details.schema.ts';
import { getAgreement } from './reviews/agreement.ts';
import { replayRun, type ReplayDeps } from './reviews/replay-run.ts';
import { endShadow, getShadow, setShadow } from './reviews/shadow.ts';
import { getSteps } from './read-steps.ts';

const read = { scope: 'detections:read' } as const;
const write = { scope: 'detections:write' } as const;

export function runDetailRoutes(app: App, deps: ReplayDeps): void {
  app.route({
    method: 'GET',
    url: '/api/runs/:id/steps',
    config: read,
    schema: {
      tags: ['runs'],
      summary: 'List the model and tool steps of a run, in order',
      params: IdPath,
      querystring: PageQuery,
      response: { 200: StepList },
    },
    handler: (request) => getSteps(deps, requireCaller(request), request.params.id, request.query),
  });
  app.route({
    method: 'POST',
    url: '/api/runs/:id/replay',
    config: { scope: 'detections:run', isBodyOptional: true },
    schema: {
      tags: ['runs'],
      summary: 'Judge the candidates of a run again, under another prompt version or model',
      params: IdPath,
      body: ReplayRequest,
      response: { 200: Replay },
    },
    handler: (request) => replayRun(deps, requireCaller(request), request.params.id, request.body),
  });
  app.route({
    method: 'GET',
    url: '/api/detections/:id/agreement',
    config: read,
    schema: {
      tags: ['runs'],
      summary: 'Get how often the judge model agrees with analysts on hits',
      params: IdPath,
      response: { 200: Agreement },
    },
    handler: (request) => getAgreement(deps, requireCaller(request), request.params.id),
  });
  const shadow = { tags: ['runs'], params: IdPath, response: { 200: Shadow } };
  app.route({
    method: 'GET',
    url: '/api/detections/:id/shadow',
    config: read,
    schema: { ...shadow, summary: 'Get the shadow of a detection and where its verdicts differ' },
    handler: (request) => getShadow(deps, requireCaller(request), request.params.id),
  });
  app.route({
    method: 'PUT',
    url: '/api/detections/:id/shadow',
    config: write,
    schema: {
      ...shadow,
      summary: 'Set the shadow of a detection: another prompt version or model that judges its runs too',
      body: ShadowInput,
    },
    handler: (request) => setShadow(deps, requireCaller(request), request.params.id, request.body),
  });
  app.route({
    method: 'DELETE',
    url: '/api/detections/:id/shadow',
    config: { ...write, ignoresBody: true },
    schema: { ...shadow, summary: 'Remove the shadow of a detection. Its comparisons stay.' },
    handler: (request) => endShadow(deps, requireCaller(request), request.params.id),
  });
}
