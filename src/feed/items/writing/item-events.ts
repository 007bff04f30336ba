import { queryRows, type Tx } from '../../../platform/db/db.ts';
import { emitEvents } from '../../../platform/notifications/emit-events.ts';
import type { EventType, OutgoingEvent } from '../../../platform/notifications/event-types.ts';
import type { FeedItem } from '../../model/item.schema.ts';
import type { ItemWrite } from './item-columns.ts';

type EventWrite = Pick<ItemWrite, 'id' | 'poolId' | 'version' | 'doc' | 'status' | 'cause'>;

/** An item after it was written. `statusBefore` is undefined for a new item. */
type WrittenItem = { write: EventWrite; statusBefore: string | undefined };

/**
 * Emits events for new, corrected and retracted items to every organization that sees them and has a notification destination. Items that only
 * this program reads differently emit no event.
 */
export async function emitItemEvents(tx: Tx, written: WrittenItem[]): Promise<void> {
  const changes = written.flatMap(({ write, statusBefore }) => {
    const type = eventTypeOf(write, statusBefore);
    return type ? [{ write, type }] : [];
  });
  if (changes.length === 0) return;
  const types = [...new Set(changes.map(({ type }) => type))];
  const readers = await listReaders(tx, [...new Set(changes.map(({ write }) => write.poolId))], types);
  const orgIds = readers.map(({ orgId }) => orgId);
  await emitEvents(tx, orgIds, types, async () => {
    const itemIds = changes.map(({ write }) => write.id);
    const overrides = await listOverridesOfOrgs(tx, orgIds, itemIds);
    return readers.flatMap(({ orgId, poolId }) =>
      changes
        .filter(({ write }) => write.poolId === poolId)
        .flatMap(({ write, type }) => toEvent({ orgId, type, write, override: overrides.get(`${orgId} ${write.id}`) })),
    );
  });
}

function eventTypeOf(write: EventWrite, statusBefore: string | undefined): EventType | undefined {
  if (statusBefore === undefined) return write.status === 'retracted' ? undefined : 'feed.item.added';
  if (write.status === 'retracted') return statusBefore === 'retracted' ? undefined : 'feed.item.retracted';
  return write.cause === 'source' ? 'feed.item.corrected' : undefined;
}

type EventInput = { orgId: string; type: EventType; write: EventWrite; override: EventOverride | undefined };

/** An organization that retracted the item itself receives no more events about it. */
function toEvent({ orgId, type, write, override }: EventInput): OutgoingEvent[] {
  if (override?.status === 'retracted') return [];
  const data = JSON.parse(write.doc) as FeedItem;
  const severity = override?.severity ?? data.event.severity;
  return [{ orgId, type, resourceId: write.id, revision: write.version, data, severity }];
}

type EventOverride = { status: string | null; severity: FeedItem['event']['severity'] | null };

/** Returns the organizations' overrides of items, by organization id and item id. */
async function listOverridesOfOrgs(tx: Tx, orgIds: string[], itemIds: string[]): Promise<Map<string, EventOverride>> {
  const overrides = await queryRows<EventOverride & { org_id: string; item_id: string }>(tx)`
      select organization_id as org_id, item_id, status, severity from feed_overrides
      where organization_id = any(${orgIds}::uuid[]) and item_id = any(${itemIds}::uuid[]) and (status is not null or severity is not null)`;
  return new Map(overrides.map(({ org_id, item_id, ...override }) => [`${org_id} ${item_id}`, override]));
}

/** Returns the organizations that see the pools and have an enabled destination for one of the event types. */
function listReaders(tx: Tx, poolIds: string[], types: EventType[]): Promise<{ orgId: string; poolId: string }[]> {
  return queryRows<{ orgId: string; poolId: string }>(tx)`
      select distinct o.organization_id as "orgId", p.id as "poolId" from destinations o
      join feed_pools p on p.id = any(${poolIds}::uuid[])
        and (p.kind = 'public' or p.organization_id = o.organization_id or (p.kind = 'assigned' and o.organization_id = any(p.assigned_to)))
      where o.enabled and o.event_types && ${types}::text[]`;
}
