import type { FastifyReply } from 'fastify';
import type { Deps } from '../../app/deps.ts';
import { callerOf, type App } from '../../platform/http/app-type.ts';
import { createDetection } from './create-detection.ts';
import { etagOf } from '../../platform/http/etag.ts';
import {
  CreateDetection,
  DetectionFilter,
  IdPath,
  SaveQuery,
  UpdateDetection,
  ValidateQuery,
} from './record/detection-input.ts';
import { deleteDetection, restoreDetection } from './life-cycle.ts';
import { getDetection, getDetections } from './read-detections.ts';
import { Detection, DetectionList } from './record/detection.schema.ts';
import { updateDetection } from './update-detection.ts';

const tags = ['detections'];
const read = { scope: 'detections:read' } as const;
const write = { scope: 'detections:write' } as const;

/** Sends a record with its version. */
export function withEtag(reply: FastifyReply, record: Detection): Detection {
  void reply.header('etag', etagOf(record));
  return record;
}

export function detectionRoutes(app: App, deps: Deps): void {
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
    handler: (request) => getDetections(deps, callerOf(request), request.query),
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
      withEtag(reply, await createDetection(deps, callerOf(request), request.body, request.query.validate === 'true')),
  });
  app.route({
    method: 'GET',
    url: '/api/detections/:id',
    config: read,
    schema: {
      tags,
      summary: 'One detection or suggestion, deleted ones too',
      params: IdPath,
      response: { 200: Detection },
    },
    handler: async (request, reply) => withEtag(reply, await getDetection(deps, callerOf(request), request.params.id)),
  });
  app.route({
    method: 'PUT',
    url: '/api/detections/:id',
    config: write,
    schema: {
      tags,
      summary: 'Change a detection or an open suggestion; absent fields stay',
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
      return withEtag(reply, await updateDetection(deps, callerOf(request), change, options));
    },
  });
  app.route({
    method: 'DELETE',
    url: '/api/detections/:id',
    config: { ...write, noBody: true },
    schema: {
      tags,
      summary: 'Delete a detection, or dismiss a suggestion; both can be restored',
      params: IdPath,
      response: { 200: Detection },
    },
    handler: async (request, reply) =>
      withEtag(reply, await deleteDetection(deps, callerOf(request), request.params.id)),
  });
  app.route({
    method: 'POST',
    url: '/api/detections/:id/restore',
    config: { ...write, noBody: true },
    schema: {
      tags,
      summary: 'Restore a deleted detection or a dismissed suggestion',
      params: IdPath,
      response: { 200: Detection },
    },
    handler: async (request, reply) =>
      withEtag(reply, await restoreDetection(deps, callerOf(request), request.params.id)),
  });
}
