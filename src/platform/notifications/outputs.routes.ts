import type { Deps } from '../../app/deps.ts';
import { callerOf, type App } from '../http/app-type.ts';
import { PageQuery } from '../lib/page-request.ts';
import { getDeliveries, redeliver, sendTest } from './delivery/deliveries.ts';
import { changeOutput, createOutput, getOutput, getOutputs, removeOutput, rotateSecret } from './outputs.ts';
import {
  CreateOutput,
  Delivery,
  DeliveryFilter,
  DeliveryList,
  DeliveryPath,
  Output,
  OutputList,
  OutputPath,
  OutputWithSecret,
  RotateSecret,
  UpdateOutput,
} from './outputs.schema.ts';

const tags = ['outputs'];
const admin = { scope: 'connections:admin' } as const;

export function outputRoutes(app: App, deps: Deps): void {
  app.route({
    method: 'GET',
    url: '/api/outputs',
    config: admin,
    schema: {
      tags,
      summary: 'List destinations of events, newest first',
      querystring: PageQuery,
      response: { 200: OutputList },
    },
    handler: (request) => getOutputs(deps, callerOf(request), request.query),
  });
  app.route({
    method: 'POST',
    url: '/api/outputs',
    config: { ...admin, secretField: 'secret' },
    schema: {
      tags,
      summary: 'Create a destination; the secret of a webhook is shown once',
      body: CreateOutput,
      response: { 200: OutputWithSecret },
    },
    handler: (request) => createOutput(deps, callerOf(request), request.body),
  });
  app.route({
    method: 'GET',
    url: '/api/outputs/:id',
    config: admin,
    schema: { tags, summary: 'Get a destination', params: OutputPath, response: { 200: Output } },
    handler: (request) => getOutput(deps, callerOf(request), request.params.id),
  });
  app.route({
    method: 'PUT',
    url: '/api/outputs/:id',
    config: admin,
    schema: {
      tags,
      summary: 'Change a destination; absent fields stay',
      params: OutputPath,
      body: UpdateOutput,
      response: { 200: Output },
    },
    handler: (request) => changeOutput(deps, callerOf(request), request.params.id, request.body),
  });
  app.route({
    method: 'DELETE',
    url: '/api/outputs/:id',
    config: { ...admin, noBody: true },
    schema: {
      tags,
      summary: 'Delete a destination with what waits for it and its log',
      params: OutputPath,
      response: { 200: Output },
    },
    handler: (request) => removeOutput(deps, callerOf(request), request.params.id),
  });
  deliveryRoutes(app, deps);
}

function deliveryRoutes(app: App, deps: Deps): void {
  app.route({
    method: 'POST',
    url: '/api/outputs/:id/rotate',
    config: { ...admin, secretField: 'secret', bodyOptional: true },
    schema: {
      tags,
      summary: 'Give a webhook a new secret; the old one signs too for a while',
      params: OutputPath,
      body: RotateSecret,
      response: { 200: OutputWithSecret },
    },
    handler: (request) => rotateSecret(deps, callerOf(request), request.params.id, request.body),
  });
  app.route({
    method: 'POST',
    url: '/api/outputs/:id/test',
    config: { ...admin, noBody: true },
    schema: { tags, summary: 'Send a test event now', params: OutputPath, response: { 200: Delivery } },
    handler: (request) => sendTest(deps, callerOf(request), request.params.id),
  });
  app.route({
    method: 'GET',
    url: '/api/outputs/:id/deliveries',
    config: admin,
    schema: {
      tags,
      summary: 'List deliveries to a destination, newest first',
      params: OutputPath,
      querystring: DeliveryFilter,
      response: { 200: DeliveryList },
    },
    handler: (request) => getDeliveries(deps, callerOf(request), request.params.id, request.query),
  });
  app.route({
    method: 'POST',
    url: '/api/outputs/:id/deliveries/:deliveryId/redeliver',
    config: { ...admin, noBody: true },
    schema: { tags, summary: 'Deliver an event again', params: DeliveryPath, response: { 200: Delivery } },
    handler: (request) => {
      const { id: outputId, deliveryId } = request.params;
      return redeliver(deps, callerOf(request), { outputId, deliveryId });
    },
  });
}
