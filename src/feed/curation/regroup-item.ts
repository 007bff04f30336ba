import type { Tx } from '../../platform/db/db.ts';
import { appError } from '../../platform/lib/errors.ts';
import { recomputePools, scopeOfPool } from '../deduplication/recompute-pools.ts';
import { setRoot } from '../items/writing/update-items.store.ts';
import {
  deleteApartDecisions,
  listGroupMembers,
  upsertDecisions,
  type CuratedItem,
  type DecisionContext,
} from './curation.store.ts';

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
export const recomputeItemGroups = (
  tx: Tx,
  item: CuratedItem,
  { at, seq }: DecisionContext,
): Promise<Map<string, string>> =>
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
