import { requireCaller, type App } from '../../../platform/http/app-type.ts';
import { PageQuery } from '../../../platform/lib/page-request.ts';
import { DetectionException, ExceptionList, ExceptionPath, NewException, Snooze } from './exceptions.schema.ts';
import { createException, getExceptions, removeException, snooze, type ExceptionDeps } from './exceptions.ts';
import { IdPath } from '../record/detection-input.schema.ts';

const tags = ['detections'];
const read = { scope: 'detections:read' } as const;
const write = { scope: 'detections:write' } as const;

export function exceptionRoutes(app: App, deps: ExceptionDeps): void {
  app.route({
    method: 'GET',
    url: '/api/detections/:id/exceptions',
    config: read,
    schema: {
      tags,
      summary: 'List the exceptions and snoozes of a detection, newest first',
      params: IdPath,
      querystring: PageQuery,
      response: { 200: ExceptionList },
    },
    handler: (request) => getExceptions(deps, requireCaller(request), request.params.id, request.query),
  });
  app.route({
    method: 'POST',
    url: '/api/detections/:id/exceptions',
    config: write,
    schema: {
      tags,
      summary: 'Create an exception for an entity or a value',
      params: IdPath,
      body: NewException,
      response: { 200: DetectionException },
    },
    handler: (request) => createException(deps, requireCaller(request), request.params.id, request.body),
  });
  app.route({
    method: 'POST',
    url: '/api/detections/:id/snooze',
    config: write,
    schema: {
      tags,
      summary: 'Snooze a detection, or one of its entities, until a given time',
      params: IdPath,
      body: Snooze,
      response: { 200: DetectionException },
    },
    handler: (request) => snooze(deps, requireCaller(request), request.params.id, request.body),
  });
  app.route({
    method: 'DELETE',
    url: '/api/detections/:id/exceptions/:exceptionId',
    config: { ...write, ignoresBody: true },
    schema: {
      tags,
      summary: 'End an exception or a snooze',
      params: ExceptionPath,
      response: { 200: DetectionException },
    },
    handler: (request) => removeException(deps, requireCaller(request), request.params.id, request.params.exceptionId),
  });
}
