import type { Deps } from '../../../app/deps.ts';
import { callerOf, type App } from '../../../platform/http/app-type.ts';
import { PageQuery } from '../../../platform/lib/page-request.ts';
import { DetectionException, ExceptionList, ExceptionPath, NewException, Snooze } from './exceptions.schema.ts';
import { createException, getExceptions, removeException, snooze } from './exceptions.ts';
import { IdPath } from '../record/detection-input.ts';

const tags = ['detections'];
const read = { scope: 'detections:read' } as const;
const write = { scope: 'detections:write' } as const;

export function exceptionRoutes(app: App, deps: Pick<Deps, 'db' | 'clock'>): void {
  app.route({
    method: 'GET',
    url: '/api/detections/:id/exceptions',
    config: read,
    schema: {
      tags,
      summary: 'List what a detection is not to raise, newest first',
      params: IdPath,
      querystring: PageQuery,
      response: { 200: ExceptionList },
    },
    handler: (request) => getExceptions(deps, callerOf(request), request.params.id, request.query),
  });
  app.route({
    method: 'POST',
    url: '/api/detections/:id/exceptions',
    config: write,
    schema: {
      tags,
      summary: 'Make an exception for an entity or a value',
      params: IdPath,
      body: NewException,
      response: { 200: DetectionException },
    },
    handler: (request) => createException(deps, callerOf(request), request.params.id, request.body),
  });
  app.route({
    method: 'POST',
    url: '/api/detections/:id/snooze',
    config: write,
    schema: {
      tags,
      summary: 'Quiet a detection, or one entity of it, until a time',
      params: IdPath,
      body: Snooze,
      response: { 200: DetectionException },
    },
    handler: (request) => snooze(deps, callerOf(request), request.params.id, request.body),
  });
  app.route({
    method: 'DELETE',
    url: '/api/detections/:id/exceptions/:exceptionId',
    config: { ...write, noBody: true },
    schema: {
      tags,
      summary: 'End an exception or a snooze',
      params: ExceptionPath,
      response: { 200: DetectionException },
    },
    handler: (request) => removeException(deps, callerOf(request), request.params.id, request.params.exceptionId),
  });
}
