import { sql } from 'kysely';
import type { Tx } from '../../platform/db/db.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { appError } from '../../platform/lib/errors.ts';
import { moveCounts } from '../items/writing/counts.ts';
import { settlePools } from '../deduplication/recompute-pools.ts';
import { retractItem, toDocument } from '../items/writing/item-document.ts';
import { emitItems } from '../items/writing/item-events.ts';
import type { CountKey } from '../items/writing/write-items.ts';
import type { Decided } from './decide-items.ts';
import type { Target } from './curation.store.ts';

/** The item becomes a tombstone with its content; what it was is kept for whoever takes that back. */
export async function retractForAll(tx: Tx, item: Target, decided: Decided, reason: string | undefined): Promise<void> {
  if (item.status === 'retracted') throw appError('conflict', 'The item is retracted already.');
  const own = item.own_doc ?? item.doc;
  const { duplicateOf: _root, ...before } = JSON.parse(own) as FeedItem;
  const heldBack = JSON.stringify(before);
  const after = retractItem(before, { version: item.version + 1, lastUpdated: decided.at });
  await change(tx, item, decided, { after, heldBack, note: reason ?? null });
}

/** The item is again what it was before a person retracted it; its source is read anew for what it said meanwhile, its text analysed anew. */
export async function restoreForAll(tx: Tx, item: Target, decided: Decided): Promise<void> {
  if (item.held_back === null) throw appError('conflict', 'No person retracted the item.');
  const before = JSON.parse(item.held_back) as FeedItem;
  const after = { ...before, version: item.version + 1, lastUpdated: decided.at.toISOString() };
  await change(tx, item, decided, { after, heldBack: null, note: null });
  await sql`
    update feed_sources set etag = null, last_modified = null, cursor = (cursor::jsonb - 'reading')::text where id = ${item.source_id}`.execute(
    tx,
  );
}

type Change = { after: FeedItem; heldBack: string | null; note: string | null };

async function change(tx: Tx, item: Target, { at, seq }: Decided, { after, heldBack, note }: Change): Promise<void> {
  const { doc, nextExpiryAt } = toDocument(after, at);
  const { status, severity } = after.event;
  await sql`
    insert into item_versions (organization_id, item_id, pool_id, version, cause, changed, stored_text, doc, at, note)
    select organization_id, item_id, pool_id, ${after.version}, 'person', '{status}', stored_text, ${doc}, ${at}, ${note}
    from item_versions where item_id = ${item.id} and version = ${item.version}`.execute(tx);
  await sql`
    update items set status = ${status}, severity = ${severity}, version = ${after.version}, doc = ${doc}, own_doc = null, held_back = ${heldBack},
      reading = ${heldBack === null ? 0 : sql`reading`}, next_expiry_at = ${nextExpiryAt}, seq = ${seq}, last_updated = ${at} where id = ${item.id}`.execute(
    tx,
  );
  const key: CountKey = {
    poolId: item.pool_id,
    severity: item.severity,
    status: item.status,
    publisher: item.publisher,
    sourceName: item.source_name,
    platforms: item.platforms,
  };
  await moveCounts(tx, [{ before: key, after: { ...key, status, severity } }]);
  const settled = await settlePools(tx, [{ id: item.id, poolId: item.pool_id }], {
    gone: [],
    at,
    seqByPool: new Map([[item.pool_id, seq]]),
  });
  // Its own publisher or an administrator said so: for those who read it that is news of the source.
  const write = {
    id: item.id,
    poolId: item.pool_id,
    version: after.version,
    doc: settled.get(item.id) ?? doc,
    status,
    cause: 'source',
  };
  await emitItems(tx, [{ write, statusBefore: item.status }]);
}
