import { inOrg } from '../../db/db.ts';
import type { Deps } from '../../../app/deps.ts';
import { appError } from '../../lib/errors.ts';
import { uuidv7 } from '../../lib/ids.ts';
import { pageOf, pageRequest } from '../../lib/page-request.ts';
import type { Caller } from '../../orgs/caller.ts';
import { triesMax } from './delivery-attempt.ts';
import { deliverHeld, type DeliverDeps } from './deliver.ts';
import {
  findDelivery,
  hasBody,
  insertHeldDelivery,
  listDeliveries,
  renewDelivery,
  type DeliveryRow,
} from './deliveries.store.ts';
import { eventBody } from '../event-types.ts';
import { outputOr404 } from '../outputs.ts';
import type { Delivery, DeliveryFilter, DeliveryList } from '../outputs.schema.ts';

/** The log of a destination, newest first. */
export async function getDeliveries(
  { db }: Pick<Deps, 'db'>,
  caller: Caller,
  outputId: string,
  filter: DeliveryFilter,
): Promise<DeliveryList> {
  const request = pageRequest(filter);
  const found = await inOrg(db, caller.orgId, async (tx) => {
    await outputOr404(tx, caller, outputId);
    return listDeliveries(tx, { orgId: caller.orgId, outputId }, filter.state, request);
  });
  const { page, nextCursor } = pageOf(found, request.limit, (row) => ({ at: row.created_at, id: row.id }));
  return { deliveries: page.map(toDelivery), nextCursor };
}

/** Makes a delivery due again, under the id that it has. 409 where its event is no longer kept or the destination is off. */
export async function redeliver(
  { db }: Pick<Deps, 'db'>,
  caller: Caller,
  { outputId, deliveryId }: { outputId: string; deliveryId: string },
): Promise<Delivery> {
  const ref = { orgId: caller.orgId, outputId };
  return inOrg(db, caller.orgId, async (tx) => {
    const output = await outputOr404(tx, caller, outputId, true);
    const found = await findDelivery(tx, ref, deliveryId);
    if (!found) throw appError('not_found', `Delivery ${deliveryId} not found.`);
    if (!output.enabled) throw appError('conflict', `Output ${outputId} is switched off; enable it first.`);
    if (!(await hasBody(tx, caller.orgId, found)))
      throw appError('conflict', `The event of delivery ${deliveryId} is no longer kept.`);
    await renewDelivery(tx, caller.orgId, deliveryId, triesMax);
    return toDelivery((await findDelivery(tx, ref, deliveryId))!);
  });
}

/** Sends an event `output.test` now, to a destination that is switched off too, in one try. Answers how that ended. */
export async function sendTest(deps: DeliverDeps, caller: Caller, outputId: string): Promise<Delivery> {
  const ref = { orgId: caller.orgId, outputId };
  const at = new Date();
  const [id, deliveryId] = [uuidv7(at), uuidv7(at)];
  const type = 'output.test';
  const held = await inOrg(deps.db, caller.orgId, async (tx) => {
    const output = await outputOr404(tx, caller, outputId);
    const data = { id: outputId, name: output.name, message: 'Tocsin reaches this destination.' };
    const body = eventBody({ type, orgId: caller.orgId, revision: 1, data }, { id, at });
    await insertHeldDelivery(tx, ref, { id, at, type, body, deliveryId });
    return { output, body };
  });
  await deliverHeld(deps, {
    organization_id: caller.orgId,
    id: deliveryId,
    output_id: outputId,
    kind: held.output.kind,
    sealed: held.output.sealed,
    event_id: id,
    event_type: type,
    tries: 1,
    tries_max: 1,
    body: held.body,
  });
  const sent = await inOrg(deps.db, caller.orgId, (tx) => findDelivery(tx, ref, deliveryId));
  if (!sent) throw appError('not_found', `Output ${outputId} was deleted meanwhile.`);
  return toDelivery(sent);
}

function toDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    outputId: row.output_id,
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
