import { sql } from 'kysely';
import { rows, type Tx } from '../../../platform/db/db.ts';
import { emitEvents } from '../../../platform/notifications/emit-events.ts';
import type { EventType, OutgoingEvent } from '../../../platform/notifications/event-types.ts';
import type { FeedItem } from '../../model/item.schema.ts';
import type { ItemWrite } from './write-items.ts';

/** An item as it was written, and the status that it had before; undefined where it is new. */
export type WrittenItem = {
  write: Pick<ItemWrite, 'id' | 'poolId' | 'version' | 'doc' | 'status' | 'cause'>;
  statusBefore: string | undefined;
};

type Reader = { orgId: string; poolId: string };

/** Tells the destinations of every organization that sees them what is new, corrected or retracted in the feed. Changes of our own reading are no news. */
export async function emitItems(tx: Tx, written: WrittenItem[]): Promise<void> {
  const told = written.flatMap(({ write, statusBefore }) => {
    const type = typeOf(write, statusBefore);
    return type ? [{ write, type }] : [];
  });
  if (told.length === 0) return;
  const types = [...new Set(told.map(({ type }) => type))];
  const readers = await listReaders(tx, [...new Set(told.map(({ write }) => write.poolId))], types);
  const orgIds = readers.map(({ orgId }) => orgId);
  await emitEvents(tx, orgIds, types, async () => {
    const said = await listSaidBy(
      tx,
      orgIds,
      told.map(({ write }) => write.id),
    );
    return readers.flatMap(({ orgId, poolId }) =>
      told
        .filter(({ write }) => write.poolId === poolId)
        .flatMap(({ write, type }) => eventOf({ orgId, type, write, word: said.get(`${orgId} ${write.id}`) })),
    );
  });
}

function typeOf(write: WrittenItem['write'], statusBefore: string | undefined): EventType | undefined {
  if (statusBefore === undefined) return write.status === 'retracted' ? undefined : 'feed.item.added';
  if (write.status === 'retracted') return statusBefore === 'retracted' ? undefined : 'feed.item.retracted';
  return write.cause === 'source' ? 'feed.item.corrected' : undefined;
}

type Told = { orgId: string; type: EventType; write: WrittenItem['write']; word: Word | undefined };

/** An organization that retracted the item itself wants to hear of it no more. */
function eventOf({ orgId, type, write, word }: Told): OutgoingEvent[] {
  if (word?.status === 'retracted') return [];
  const data = JSON.parse(write.doc) as FeedItem;
  const severity = word?.severity ?? data.event.severity;
  return [{ orgId, type, resourceId: write.id, revision: write.version, data, severity }];
}

type Word = { status: string | null; severity: FeedItem['event']['severity'] | null };

/** What organizations say of items, by both ids. */
async function listSaidBy(tx: Tx, orgIds: string[], ids: string[]): Promise<Map<string, Word>> {
  const found = await rows(
    tx,
    sql<Word & { org_id: string; item_id: string }>`
      select organization_id as org_id, item_id, status, severity from feed_overrides
      where organization_id = any(${orgIds}::uuid[]) and item_id = any(${ids}::uuid[]) and (status is not null or severity is not null)`,
  );
  return new Map(found.map(({ org_id, item_id, ...word }) => [`${org_id} ${item_id}`, word]));
}

/** Organizations that have a destination for one of the types and see the pool. */
function listReaders(tx: Tx, poolIds: string[], types: EventType[]): Promise<Reader[]> {
  return rows(
    tx,
    sql<Reader>`
      select distinct o.organization_id as "orgId", p.id as "poolId" from outputs o
      join feed_pools p on p.id = any(${poolIds}::uuid[])
        and (p.kind = 'public' or p.organization_id = o.organization_id or (p.kind = 'assigned' and o.organization_id = any(p.assigned_to)))
      where o.enabled and o.event_types && ${types}::text[]`,
  );
}
