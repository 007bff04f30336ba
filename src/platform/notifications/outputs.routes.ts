import type { App } from '../http/app-type.ts';
import { apiRoutes } from '../http/api-routes.ts';
import { PageQuery } from '../lib/page-request.ts';
import { listDeliveries, redeliver, sendTestEvent } from './deliveries.ts';
import {
  changeOutput,
  createOutput,
  getOutput,
  listOutputs,
  removeOutput,
  rotateSecret,
  type OutputDeps,
} from './outputs.ts';
import type { DeliverDeps } from './deliver.ts';
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

export function outputRoutes(app: App, deps: OutputDeps & DeliverDeps): void {
  const route = apiRoutes(app, { tag: 'outputs', scope: 'connections:admin' });
  route(
    'GET /api/outputs',
    {
      operationId: 'listOutputs',
      summary: 'List event destinations, newest first',
      query: PageQuery,
      returns: OutputList,
    },
    ({ caller, query }) => listOutputs(deps, caller, query),
  );
  route(
    'POST /api/outputs',
    {
      operationId: 'createOutput',
      summary: 'Create a destination. The secret of a webhook is shown once',
      secretField: 'secret',
      body: CreateOutput,
      returns: OutputWithSecret,
    },
    ({ caller, body }) => createOutput(deps, caller, body),
  );
  route(
    'GET /api/outputs/:id',
    { operationId: 'getOutput', summary: 'Get a destination', params: OutputPath, returns: Output, hasEtag: true },
    ({ caller, params }) => getOutput(deps, caller, params.id),
  );
  route(
    'PUT /api/outputs/:id',
    {
      operationId: 'updateOutput',
      summary: 'Change a destination. Absent fields stay unchanged',
      params: OutputPath,
      body: UpdateOutput,
      returns: Output,
      hasEtag: true,
      acceptsIfMatch: true,
    },
    ({ caller, params, body, request }) =>
      changeOutput(deps, caller, params.id, { ...body, ifMatch: request.headers['if-match'] }),
  );
  route(
    'DELETE /api/outputs/:id',
    {
      operationId: 'deleteOutput',
      summary: 'Delete a destination with its pending deliveries and its log',
      ignoresBody: true,
      params: OutputPath,
      returns: Output,
    },
    ({ caller, params }) => removeOutput(deps, caller, params.id),
  );
  route(
    'POST /api/outputs/:id/rotate',
    {
      operationId: 'rotateOutputSecret',
      summary: 'Replace the secret of a webhook. The old one stays valid during the overlap',
      secretField: 'secret',
      isBodyOptional: true,
      params: OutputPath,
      body: RotateSecret,
      returns: OutputWithSecret,
    },
    ({ caller, params, body }) => rotateSecret(deps, caller, params.id, body),
  );
  route(
    'POST /api/outputs/:id/test',
    {
      operationId: 'testOutput',
      summary: 'Send a test event now',
      ignoresBody: true,
      params: OutputPath,
      returns: Delivery,
    },
    ({ caller, params }) => sendTestEvent(deps, caller, params.id),
  );
  route(
    'GET /api/outputs/:id/deliveries',
    {
      operationId: 'listDeliveries',
      summary: 'List the deliveries to a destination, newest first',
      params: OutputPath,
      query: DeliveryFilter,
      returns: DeliveryList,
    },
    ({ caller, params, query }) => listDeliveries(deps, caller, params.id, query),
  );
  route(
    'POST /api/outputs/:id/deliveries/:deliveryId/redeliver',
    {
      operationId: 'redeliverEvent',
      summary: 'Deliver an event again',
      ignoresBody: true,
      params: DeliveryPath,
      returns: Delivery,
    },
    ({ caller, params: { id: outputId, deliveryId } }) => redeliver(deps, caller, { outputId, deliveryId }),
  );
}
