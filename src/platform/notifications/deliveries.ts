import { inOrg, type Db } from '../db/db.ts';
import { appError } from '../lib/errors.ts';
import { uuidv7 } from '../lib/ids.ts';
import { toPage, readPageRequest } from '../lib/page-request.ts';
import type { Caller } from '../http/caller.ts';
import { triesMax } from './delivery-attempt.ts';
import { deliverClaimed, type DeliverDeps } from './deliver.ts';
import {
  findDelivery,
  findTicket,
  isEventStored,
  insertClaimedDelivery,
  findDeliveries,
  rescheduleDelivery,
  type DeliveryRow,
} from './deliveries.store.ts';
import { eventBody } from './event-types.ts';
import { getRow } from './destinations.ts';
import type { Delivery, DeliveryFilter, DeliveryList } from './destinations.schema.ts';

/** Lists the deliveries to a destination, newest first. */
export async function listDeliveries(
  { db }: { db: Db },
  caller: Caller,
  destinationId: string,
  filter: DeliveryFilter,
): Promise<DeliveryList> {
  const request = readPageRequest(filter);
  const rows = await inOrg(db, caller.orgId, async (tx) => {
    await getRow(tx, caller, destinationId);
    return findDeliveries(tx, { orgId: caller.orgId, destinationId }, filter.state, request);
  });
  const { page, nextCursor } = toPage(rows, request.limit, (row) => ({ at: row.created_at, id: row.id }));
  return { deliveries: page.map(toDelivery), nextCursor };
}

/** Makes a delivery due again, with the same event ID. 409 if its event is no longer stored or the destination is disabled. */
export async function redeliver(
  { db }: { db: Db },
  caller: Caller,
  { destinationId, deliveryId }: { destinationId: string; deliveryId: string },
): Promise<Delivery> {
  const destinationRef = { orgId: caller.orgId, destinationId };
  return inOrg(db, caller.orgId, async (tx) => {
    const destination = await getRow(tx, caller, destinationId, { lock: true });
    const delivery = await findDelivery(tx, destinationRef, deliveryId);
    if (!delivery) throw appError('not_found', `Delivery ${deliveryId} not found.`);
    if (!destination.enabled) throw appError('conflict', `Destination ${destinationId} is disabled. Enable it first.`);
    if (!(await isEventStored(tx, caller.orgId, delivery)))
      throw appError('conflict', `The event of delivery ${deliveryId} is no longer stored.`);
    await rescheduleDelivery(tx, caller.orgId, deliveryId, triesMax);
    return toDelivery((await findDelivery(tx, destinationRef, deliveryId))!);
  });
}

/** Sends an `destination.test` event immediately, in one attempt, even to a disabled destination. Returns the delivery with its result. */
export async function sendTestEvent(deps: DeliverDeps, caller: Caller, destinationId: string): Promise<Delivery> {
  const destinationRef = { orgId: caller.orgId, destinationId };
  const at = new Date();
  const [id, deliveryId] = [uuidv7(at), uuidv7(at)];
  const type = 'destination.test';
  const test = await inOrg(deps.db, caller.orgId, async (tx) => {
    const destination = await getRow(tx, caller, destinationId);
    const data = { id: destinationId, name: destination.name, message: 'Tocsin can reach this destination.' };
    const body = eventBody({ type, orgId: caller.orgId, revision: 1, data }, { id, at });
    await insertClaimedDelivery(tx, destinationRef, { id, at, type, body, deliveryId });
    return { destination, body, ticket: await findTicket(tx, destinationRef, destinationId) };
  });
  await deliverClaimed(deps, {
    organization_id: caller.orgId,
    id: deliveryId,
    destination_id: destinationId,
    kind: test.destination.kind,
    settings: test.destination.settings,
    sealed: test.destination.sealed,
    event_id: id,
    event_type: type,
    resource_id: destinationId,
    tries: 1,
    tries_max: 1,
    body: test.body,
    ticket: test.ticket,
  });
  const sent = await inOrg(deps.db, caller.orgId, (tx) => findDelivery(tx, destinationRef, deliveryId));
  if (!sent) throw appError('not_found', `Destination ${destinationId} was deleted during the test.`);
  return toDelivery(sent);
}

function toDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    destinationId: row.destination_id,
    eventId: row.event_id,
    eventType: row.event_type,
    resourceId: row.resource_id,
    state: row.state,
    tries: row.tries,
    nextTryAt: row.next_try_at?.toISOString() ?? null,
    lastTryAt: row.last_try_at?.toISOString() ?? null,
    lastStatus: row.last_status,
    lastError: row.last_error,
    lastMs: row.last_ms,
    createdAt: row.created_at.toISOString(),
  };
}
