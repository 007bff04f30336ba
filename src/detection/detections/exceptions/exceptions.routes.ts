import type { App } from '../../../platform/http/app-type.ts';
import { apiRoutes } from '../../../platform/http/api-routes.ts';
import { PageQuery } from '../../../platform/lib/page-request.ts';
import {
  DetectionException,
  ExceptionList,
  ExceptionPath,
  ExceptionPreview,
  NewException,
  PreviewException,
  Snooze,
} from './exceptions.schema.ts';
import { previewException } from './preview-exception.ts';
import { createException, getExceptions, removeException, snooze, type ExceptionDeps } from './exceptions.ts';
import { IdPath } from '../record/detection-input.schema.ts';

export function exceptionRoutes(app: App, deps: ExceptionDeps): void {
  const route = apiRoutes(app, { tag: 'detections', scope: 'detections:write' });
  route(
    'GET /api/detections/:id/exceptions',
    {
      operationId: 'listExceptions',
      summary: 'List the exceptions and snoozes of a detection, newest first',
      scope: 'detections:read',
      params: IdPath,
      query: PageQuery,
      returns: ExceptionList,
    },
    ({ caller, params, query }) => getExceptions(deps, caller, params.id, query),
  );
  route(
    'POST /api/detections/:id/exceptions',
    {
      operationId: 'createException',
      summary: 'Create an exception for an entity or a value',
      params: IdPath,
      body: NewException,
      returns: DetectionException,
    },
    ({ caller, params, body }) => createException(deps, caller, params.id, body),
  );
  route(
    'POST /api/detections/:id/exceptions/preview',
    {
      operationId: 'previewException',
      summary: 'Preview an exception: the hits of the last 30 days that it would have hidden',
      scope: 'hits:read',
      params: IdPath,
      body: PreviewException,
      returns: ExceptionPreview,
    },
    ({ caller, params, body }) => previewException(deps, caller, params.id, body),
  );
  route(
    'POST /api/detections/:id/snooze',
    {
      operationId: 'snoozeDetection',
      summary: 'Snooze a detection, or one of its entities, until a given time',
      params: IdPath,
      body: Snooze,
      returns: DetectionException,
    },
    ({ caller, params, body }) => snooze(deps, caller, params.id, body),
  );
  route(
    'DELETE /api/detections/:id/exceptions/:exceptionId',
    {
      operationId: 'endException',
      summary: 'End an exception or a snooze',
      params: ExceptionPath,
      returns: DetectionException,
    },
    ({ caller, params }) => removeException(deps, caller, params.id, params.exceptionId),
  );
}
