import type { Tx } from '../../platform/db/db.ts';
import { appError } from '../../platform/lib/errors.ts';
import { retractItem, toDocument } from '../ingestion/item-document.ts';
import { toCountedItem, moveCounts } from '../items/writing/counts.store.ts';
import { requireItemQuota } from '../items/writing/item-quota.ts';
import { emitItemEvents } from '../items/writing/item-events.ts';
import { updateRetraction } from '../items/writing/update-items.store.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { requestReread } from '../sources/sources.store.ts';
import type { CuratedItem, DecisionContext } from './curation.store.ts';
import { recomputeItemGroups } from './regroup-item.ts';

/** Turns the item into a tombstone with its content, for everyone who sees it. Stores the previous document for `restoreForEveryone`. */
export async function retractForEveryone(
  tx: Tx,
  item: CuratedItem,
  context: DecisionContext,
  reason: string | undefined,
): Promise<void> {
  if (item.status === 'retracted') throw appError('conflict', 'The item is already retracted.');
  const { duplicateOf: _root, ...before } = JSON.parse(item.own_doc ?? item.doc) as FeedItem;
  // Serialized first, because `retractItem` revokes the indicators in place.
  const heldBack = JSON.stringify(before);
  const after = retractItem(before, { version: item.version + 1, lastUpdated: context.at });
  await writeRetraction(tx, item, context, { after, heldBack, note: reason ?? null });
}

/**
 * Restores the item to its state before the retraction. The next pull applies the changes that its source made in the meantime. Throws 409 if
 * the quota of private items is used up.
 */
export async function restoreForEveryone(tx: Tx, item: CuratedItem, context: DecisionContext): Promise<void> {
  if (item.held_back === null) throw appError('conflict', 'The item was not retracted by a person.');
  if (item.pool_kind === 'private') await requireItemQuota(tx, item.organization_id);
  const before = JSON.parse(item.held_back) as FeedItem;
  const after = { ...before, version: item.version + 1, lastUpdated: context.at.toISOString() };
  await writeRetraction(tx, item, context, { after, heldBack: null, note: null });
  if (item.source_id !== null) await requestReread(tx, item.source_id);
}

type Retraction = { after: FeedItem; heldBack: string | null; note: string | null };

async function writeRetraction(
  tx: Tx,
  item: CuratedItem,
  context: DecisionContext,
  { after, heldBack, note }: Retraction,
): Promise<void> {
  const { at, seq } = context;
  const { doc, nextExpiryAt } = toDocument(after, at);
  const { status, severity } = after.event;
  const next = { version: after.version, status, severity, doc, nextExpiryAt };
  await updateRetraction(tx, { id: item.id, version: item.version, next, heldBack, note, seq, at });
  const before = toCountedItem(item);
  await moveCounts(tx, [{ before, after: { ...before, status, severity } }]);
  const documents = await recomputeItemGroups(tx, item, context);
  // The item's publisher or an administrator decided this, so its readers receive it as a change of the source.
  const write = { id: item.id, poolId: item.pool_id, version: after.version, status, cause: 'source' };
  const written = { write: { ...write, doc: documents.get(item.id) ?? doc }, statusBefore: item.status };
  await emitItemEvents(tx, [written]);
}
