import { requireCaller, type App } from '../http/app-type.ts';
import { PageQuery } from '../lib/page-request.ts';
import { listDeliveries, redeliver, sendTestEvent } from './delivery/deliveries.ts';
import {
  changeOutput,
  createOutput,
  getOutput,
  listOutputs,
  removeOutput,
  rotateSecret,
  type OutputDeps,
} from './outputs.ts';
import type { DeliverDeps } from './delivery/deliver.ts';
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

type OutputRoutesDeps = OutputDeps & DeliverDeps;

const tags = ['outputs'];
const admin = { scope: 'connections:admin' } as const;

export function outputRoutes(app: App, deps: OutputRoutesDeps): void {
  app.route({
    method: 'GET',
    url: '/api/outputs',
    config: admin,
    schema: {
      tags,
      summary: 'List event destinations, newest first',
      querystring: PageQuery,
      response: { 200: OutputList },
    },
    handler: (request) => listOutputs(deps, requireCaller(request), request.query),
  });
  app.route({
    method: 'POST',
    url: '/api/outputs',
    config: { ...admin, secretField: 'secret' },
    schema: {
      tags,
      summary: 'Create a destination. The secret of a webhook is shown once',
      body: CreateOutput,
      response: { 200: OutputWithSecret },
    },
    handler: (request) => createOutput(deps, requireCaller(request), request.body),
  });
  app.route({
    method: 'GET',
    url: '/api/outputs/:id',
    config: admin,
    schema: { tags, summary: 'Get a destination', params: OutputPath, response: { 200: Output } },
    handler: (request) => getOutput(deps, requireCaller(request), request.params.id),
  });
  app.route({
    method: 'PUT',
    url: '/api/outputs/:id',
    config: admin,
    schema: {
      tags,
      summary: 'Change a destination. Absent fields stay unchanged',
      params: OutputPath,
      body: UpdateOutput,
      response: { 200: Output },
    },
    handler: (request) => changeOutput(deps, requireCaller(request), request.params.id, request.body),
  });
  app.route({
    method: 'DELETE',
    url: '/api/outputs/:id',
    config: { ...admin, ignoresBody: true },
    schema: {
      tags,
      summary: 'Delete a destination with its pending deliveries and its log',
      params: OutputPath,
      response: { 200: Output },
    },
    handler: (request) => removeOutput(deps, requireCaller(request), request.params.id),
  });
  deliveryRoutes(app, deps);
}

function deliveryRoutes(app: App, deps: OutputRoutesDeps): void {
  app.route({
    method: 'POST',
    url: '/api/outputs/:id/rotate',
    config: { ...admin, secretField: 'secret', isBodyOptional: true },
    schema: {
      tags,
      summary: 'Replace the secret of a webhook. The old one stays valid during the overlap',
      params: OutputPath,
      body: RotateSecret,
      response: { 200: OutputWithSecret },
    },
    handler: (request) => rotateSecret(deps, requireCaller(request), request.params.id, request.body),
  });
  app.route({
    method: 'POST',
    url: '/api/outputs/:id/test',
    config: { ...admin, ignoresBody: true },
    schema: { tags, summary: 'Send a test event now', params: OutputPath, response: { 200: Delivery } },
    handler: (request) => sendTestEvent(deps, requireCaller(request), request.params.id),
  });
  app.route({
    method: 'GET',
    url: '/api/outputs/:id/deliveries',
    config: admin,
    schema: {
      tags,
      summary: 'List the deliveries to a destination, newest first',
      params: OutputPath,
      querystring: DeliveryFilter,
      response: { 200: DeliveryList },
    },
    handler: (request) => listDeliveries(deps, requireCaller(request), request.params.id, request.query),
  });
  app.route({
    method: 'POST',
    url: '/api/outputs/:id/deliveries/:deliveryId/redeliver',
    config: { ...admin, ignoresBody: true },
    schema: { tags, summary: 'Deliver an event again', params: DeliveryPath, response: { 200: Delivery } },
    handler: (request) => {
      const { id: outputId, deliveryId } = request.params;
      return redeliver(deps, requireCaller(request), { outputId, deliveryId });
    },
  });
}
