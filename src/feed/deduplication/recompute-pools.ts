import type { Tx } from '../../platform/db/db.ts';
import { publicPoolId } from '../items/writing/feed-pools.store.ts';
import type { ItemWrite } from '../items/writing/item-columns.ts';
import type { RemovedTerm } from '../items/writing/write-items.store.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { insertArrivals } from './arrivals.store.ts';
import { isComparedTerm, type PoolScope, type UnlinkableItem } from './deduplication.store.ts';
import { recomputeGroups } from './recompute-groups.ts';
import { recomputeOverridesOf } from './recompute-overrides.ts';

/** An item can join groups of its own pool and of the public one: everyone who sees a member must also see its root. */
export const scopeOfPool = (poolId: string): PoolScope => ({
  poolId,
  widerPoolIds: poolId === publicPoolId ? [] : [publicPoolId],
});

/** An item whose group is recomputed. `terms` is set if the transaction wrote the item; a first version is a new item. */
type RegroupedItem = Pick<ItemWrite, 'id' | 'poolId'> &
  (Pick<ItemWrite, 'version' | 'terms' | 'sketch' | 'canonicalKey'> | { terms?: never });

const isNew = (item: RegroupedItem): boolean => item.terms !== undefined && item.version === 1;

/** Returns the item's identities if it is new and has no value that could link it with another item: most records of a structured source. */
function readUnlinkable(item: RegroupedItem): UnlinkableItem[] {
  if (item.terms === undefined || item.version > 1) return [];
  const { id, canonicalKey, terms, sketch } = item;
  if (terms.some((term) => isComparedTerm(term, sketch !== null))) return [];
  return [{ id, canonicalKey, aliases: terms.flatMap(({ kind, value }) => (kind === 'alias' ? [value] : [])) }];
}

/**
 * Recomputes the groups of the items that a transaction wrote, pool by pool, and queues the items for the later comparison with other pools.
 * The pools must be locked. Returns the documents that changed, by item id.
 */
export async function recomputePools(
  tx: Tx,
  written: RegroupedItem[],
  commit: { removedTerms: RemovedTerm[]; at: Date; seqByPool: ReadonlyMap<string, number> },
): Promise<Map<string, string>> {
  const { removedTerms, at, seqByPool } = commit;
  const documents = new Map<string, string>();
  for (const [poolId, items] of Map.groupBy(written, (item) => item.poolId)) {
    const ids = [...new Set(items.map(({ id }) => id))];
    const groupCommit = { scope: scopeOfPool(poolId), at, seq: seqByPool.get(poolId)! };
    const unlinkable = items.flatMap(readUnlinkable);
    const changed = await recomputeGroups(tx, groupCommit, ids, { removedTerms, unlinkable });
    for (const [id, doc] of changed) documents.set(id, doc);
    // Items of narrower pools may point at an item that now has another root.
    await insertArrivals(tx, poolId, [...new Set([...ids, ...changed.keys()])]);
  }
  const roots = [...documents.values()].flatMap((doc) => (JSON.parse(doc) as FeedItem).duplicateOf ?? []);
  const known = written.flatMap((item) => (isNew(item) ? [] : [item.id]));
  const ids = [...new Set([...known, ...documents.keys(), ...roots])];
  // No organization overrides a new item, but perhaps the items that it was grouped with.
  if (ids.length > 0) await recomputeOverridesOf(tx, ids, { at, advancingPoolIds: new Set(seqByPool.keys()) });
  return documents;
}
