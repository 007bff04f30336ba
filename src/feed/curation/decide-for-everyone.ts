import type { Tx } from '../../platform/db/db.ts';
import { appError } from '../../platform/lib/errors.ts';
import { retractItem, toDocument } from '../ingestion/item-document.ts';
import { toCountedItem, moveCounts, requireItemQuota } from '../items/writing/feed-pools.store.ts';
import { emitItemEvents } from '../items/writing/item-events.ts';
import { updateRetraction, setRoot } from '../items/writing/update-items.store.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { requestReread } from '../sources/sources.store.ts';
import {
  type CuratedItem,
  type DecisionContext,
  deleteApartDecisions,
  listGroupMembers,
  upsertDecisions,
} from './curation.store.ts';
import { recomputePools, scopeOfPool } from '../deduplication/recompute-pools.ts';

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

/** Separates the item from every item of its group, for everyone who sees it. If it was the root, the next item becomes the root. */
export async function splitForEveryone(tx: Tx, item: CuratedItem, context: DecisionContext): Promise<void> {
  const others = await listGroupMembers(tx, item, listPoolIds(item));
  if (others.length === 0) throw appError('conflict', 'The item belongs to no group.');
  await separateItems(tx, item, others, context);
  await recomputeItemGroups(tx, item, context);
}

/** Moves the item and the members of its group to another group, for everyone who sees it. That group keeps its root. */
export async function mergeForEveryone(
  tx: Tx,
  item: CuratedItem,
  into: CuratedItem,
  context: DecisionContext,
): Promise<void> {
  if (item.status === 'retracted') throw appError('conflict', 'The item is retracted.');
  const { widerPoolIds } = scopeOfPool(item.pool_id);
  const members = await listGroupMembers(tx, item, [item.pool_id]);
  const targetMembers = await listGroupMembers(tx, into, listPoolIds(item));
  const previousRoot = item.duplicate_of ?? item.id;
  const root = into.duplicate_of ?? into.id;
  if (previousRoot === root) return;
  // An item cannot join two groups of a wider pool, so it leaves its current one.
  const leftMembers = widerPoolIds.length === 0 ? [] : await listGroupMembers(tx, item, widerPoolIds);
  if (leftMembers.length > 0) await separateItems(tx, item, leftMembers, context);
  await deleteApartDecisions(tx, item.pool_id, [item.id, ...members], [into.id, ...targetMembers]);
  await upsertDecisions(tx, {
    poolId: item.pool_id,
    pairs: [[item.id, into.id]],
    verdict: 'together',
    at: context.at,
    by: context.caller.keyId,
  });
  // The previous root must point at the new root before the groups are recomputed. Otherwise it could become the root of both.
  if (leftMembers.length === 0) await setRoot(tx, previousRoot, root, context.seq);
  await recomputeItemGroups(tx, item, context);
}

/** Recomputes the groups of the item's pool and returns the documents that changed, by item id. */
const recomputeItemGroups = (tx: Tx, item: CuratedItem, { at, seq }: DecisionContext): Promise<Map<string, string>> =>
  recomputePools(tx, [{ id: item.id, poolId: item.pool_id }], {
    removedTerms: [],
    at,
    seqByPool: new Map([[item.pool_id, seq]]),
  });

const listPoolIds = (item: CuratedItem): string[] => [item.pool_id, ...scopeOfPool(item.pool_id).widerPoolIds];

const separateItems = (tx: Tx, item: CuratedItem, others: string[], { at, caller }: DecisionContext): Promise<void> =>
  upsertDecisions(tx, {
    poolId: item.pool_id,
    pairs: others.map((other) => [item.id, other]),
    verdict: 'apart',
    at,
    by: caller.keyId,
  });
