import type { App } from '../http/app-type.ts';
import { apiRoutes } from '../http/api-routes.ts';
import { PageQuery } from '../lib/page-request.ts';
import { listDeliveries, redeliver, sendTestEvent } from './deliveries.ts';
import {
  changeDestination,
  createDestination,
  getDestination,
  listDestinations,
  removeDestination,
  rotateSecret,
  type DestinationDeps,
} from './destinations.ts';
import type { DeliverDeps } from './deliver.ts';
import {
  CreateDestination,
  Delivery,
  DeliveryFilter,
  DeliveryList,
  DeliveryPath,
  Destination,
  DestinationKindList,
  DestinationList,
  IdPath,
  DestinationWithSecret,
  listDestinationKinds,
  RotateSecret,
  UpdateDestination,
} from './destinations.schema.ts';

export function destinationRoutes(app: App, deps: DestinationDeps & DeliverDeps): void {
  const route = apiRoutes(app, { tag: 'destinations', scope: 'connections:admin' });
  route(
    'GET /api/destinations',
    {
      operationId: 'listDestinations',
      summary: 'List event destinations, newest first',
      query: PageQuery,
      returns: DestinationList,
    },
    ({ caller, query }) => listDestinations(deps, caller, query),
  );
  route(
    'GET /api/destination-kinds',
    { operationId: 'listDestinationKinds', summary: 'List the kinds of destinations', returns: DestinationKindList },
    () => Promise.resolve(listDestinationKinds()),
  );
  route(
    'POST /api/destinations',
    {
      operationId: 'createDestination',
      summary: 'Create a destination. The secret of a webhook is shown once',
      secretField: 'secret',
      body: CreateDestination,
      returns: DestinationWithSecret,
    },
    ({ caller, body }) => createDestination(deps, caller, body),
  );
  route(
    'GET /api/destinations/:id',
    {
      operationId: 'getDestination',
      summary: 'Get a destination',
      params: IdPath,
      returns: Destination,
      hasEtag: true,
    },
    ({ caller, params }) => getDestination(deps, caller, params.id),
  );
  route(
    'PUT /api/destinations/:id',
    {
      operationId: 'updateDestination',
      summary: 'Change a destination. Absent fields are unchanged',
      params: IdPath,
      body: UpdateDestination,
      returns: Destination,
      hasEtag: true,
      acceptsIfMatch: true,
    },
    ({ caller, params, body, ifMatch }) => changeDestination(deps, caller, params.id, { ...body, ifMatch }),
  );
  route(
    'DELETE /api/destinations/:id',
    {
      operationId: 'deleteDestination',
      summary: 'Delete a destination with its pending deliveries and its log',
      params: IdPath,
      returns: Destination,
    },
    ({ caller, params }) => removeDestination(deps, caller, params.id),
  );
  route(
    'POST /api/destinations/:id/rotate',
    {
      operationId: 'rotateDestinationSecret',
      summary: 'Replace the secret of a webhook. The old one stays valid during the overlap',
      secretField: 'secret',
      isBodyOptional: true,
      params: IdPath,
      body: RotateSecret,
      returns: DestinationWithSecret,
    },
    ({ caller, params, body }) => rotateSecret(deps, caller, params.id, body),
  );
  route(
    'POST /api/destinations/:id/test',
    { operationId: 'testDestination', summary: 'Send a test event now', params: IdPath, returns: Delivery },
    ({ caller, params }) => sendTestEvent(deps, caller, params.id),
  );
  route(
    'GET /api/destinations/:id/deliveries',
    {
      operationId: 'listDeliveries',
      summary: 'List the deliveries to a destination, newest first',
      params: IdPath,
      query: DeliveryFilter,
      returns: DeliveryList,
    },
    ({ caller, params, query }) => listDeliveries(deps, caller, params.id, query),
  );
  route(
    'POST /api/destinations/:id/deliveries/:deliveryId/redeliver',
    { operationId: 'redeliverEvent', summary: 'Deliver an event again', params: DeliveryPath, returns: Delivery },
    ({ caller, params: { id: destinationId, deliveryId } }) => redeliver(deps, caller, { destinationId, deliveryId }),
  );
}
