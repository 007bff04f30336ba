import type { FastifyReply } from 'fastify';
import { requireCaller, type App } from '../../platform/http/app-type.ts';
import { createDetection } from './create-detection.ts';
import { recordEtag } from '../../platform/http/etag.ts';
import {
  CreateDetection,
  DetectionFilter,
  IdPath,
  SaveQuery,
  UpdateDetection,
  ValidateQuery,
} from './record/detection-input.schema.ts';
import { deleteDetection, restoreDetection } from './life-cycle.ts';
import { getDetection, getDetections } from './read-detections.ts';
import { Detection, DetectionList } from './record/detection.schema.ts';
import { updateDetection, type UpdateDetectionDeps } from './update-detection.ts';

const tags = ['detections'];
const read = { scope: 'detections:read' } as const;
const write = { scope: 'detections:write' } as const;

/** Sets the ETag header of a record and returns the record. */
export function withEtag(reply: FastifyReply, record: Detection): Detection {
  void reply.header('etag', recordEtag(record));
  return record;
}

export function detectionRoutes(app: App, deps: UpdateDetectionDeps): void {
  app.route({
    method: 'GET',
    url: '/api/detections',
    config: read,
    schema: {
      tags,
      summary: 'List detections, newest first',
      querystring: DetectionFilter,
      response: { 200: DetectionList },
    },
    handler: (request) => getDetections(deps, requireCaller(request), request.query),
  });
  app.route({
    method: 'POST',
    url: '/api/detections',
    config: write,
    schema: {
      tags,
      summary: 'Create a detection',
      querystring: ValidateQuery,
      body: CreateDetection,
      response: { 200: Detection },
    },
    handler: async (request, reply) =>
      withEtag(
        reply,
        await createDetection(deps, requireCaller(request), request.body, request.query.validate === 'true'),
      ),
  });
  app.route({
    method: 'GET',
    url: '/api/detections/:id',
    config: read,
    schema: {
      tags,
      summary: 'Get a detection or suggestion, deleted or not',
      params: IdPath,
      response: { 200: Detection },
    },
    handler: async (request, reply) =>
      withEtag(reply, await getDetection(deps, requireCaller(request), request.params.id)),
  });
  app.route({
    method: 'PUT',
    url: '/api/detections/:id',
    config: write,
    schema: {
      tags,
      summary: 'Change a detection or an open suggestion. Absent fields are unchanged',
      params: IdPath,
      querystring: SaveQuery,
      body: UpdateDetection,
      response: { 200: Detection },
    },
    handler: async (request, reply) => {
      const options = {
        validate: request.query.validate === 'true',
        requireTests: request.query.require === 'tests',
        ifMatch: request.headers['if-match'],
      };
      const change = { id: request.params.id, input: request.body };
      return withEtag(reply, await updateDetection(deps, requireCaller(request), change, options));
    },
  });
  app.route({
    method: 'DELETE',
    url: '/api/detections/:id',
    config: { ...write, ignoresBody: true },
    schema: {
      tags,
      summary: 'Delete a detection or dismiss a suggestion. Both can be restored',
      params: IdPath,
      response: { 200: Detection },
    },
    handler: async (request, reply) =>
      withEtag(reply, await deleteDetection(deps, requireCaller(request), request.params.id)),
  });
  app.route({
    method: 'POST',
    url: '/api/detections/:id/restore',
    config: { ...write, ignoresBody: true },
    schema: {
      tags,
      summary: 'Restore a deleted detection or a dismissed suggestion',
      params: IdPath,
      response: { 200: Detection },
    },
    handler: async (request, reply) =>
      withEtag(reply, await restoreDetection(deps, requireCaller(request), request.params.id)),
  });
}
