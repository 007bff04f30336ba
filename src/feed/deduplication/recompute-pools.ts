import { acrossOrgs, type Db, type Tx } from '../../platform/db/db.ts';
import { runLoop } from '../../platform/lib/concurrency/loop.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { SnapshotCache } from '../items/snapshot/snapshot.ts';
import {
  advancePools,
  lockPool,
  nextCommitTime,
  publicPoolId,
  incrementPoolSeq,
} from '../items/writing/feed-pools.store.ts';
import type { ItemWrite } from '../items/writing/item-columns.ts';
import { replaceRootOverrides } from '../items/writing/overrides.store.ts';
import type { RemovedTerm } from '../items/writing/write-items.store.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { claimArrivals, deleteArrivals, insertArrivals, insertNeighborArrivals } from './arrivals.store.ts';
import {
  isComparedTerm,
  type PoolScope,
  type UnlinkableItem,
  listGroupOverrides,
  listOrgsWithGroupOverrides,
  listVisibleGroups,
  type GroupOverrideRow,
  type VisibleItem,
} from './deduplication.store.ts';
import { electRoot } from './groups.ts';
import { recomputeGroups } from './recompute-groups.ts';

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

const idleMs = 1_000;
// They bound how long a batch locks the pool, so that pulls and people do not wait for it.
const batchBounds = { countMax: 500, bytesMax: 2_000_000 };

type ArrivalsDeps = { db: Db; clock: Clock; snapshots: Pick<SnapshotCache, 'invalidate'> };

/** Calls `step`, which is `processArrivals`, until the signal aborts. Any number of processes may run it. */
export const arrivalsLoop = (log: Logger, signal: AbortSignal, step: () => Promise<boolean>): Promise<void> =>
  runLoop({ name: 'arrivals', idleMs, signal, log }, step);

/**
 * Processes a batch of queued items of one pool. Runs after the transaction that wrote them, because concurrent transactions do not see each
 * other's items. New public items queue the items of narrower pools that may belong to their groups; those are then regrouped in their own
 * pool. A narrower pool never changes a wider one. Returns false if the queue is empty.
 */
export async function processArrivals({ db, clock, snapshots }: ArrivalsDeps): Promise<boolean> {
  const hasWorked = await acrossOrgs(db, async (tx) => {
    const { poolId, ids } = await claimArrivals(tx, batchBounds);
    if (poolId === undefined) return false;
    if (poolId === publicPoolId) await insertNeighborArrivals(tx, ids);
    else await regroup(tx, { poolId, ids, now: clock() });
    await deleteArrivals(tx, poolId, ids);
    return true;
  });
  if (hasWorked) snapshots.invalidate();
  return hasWorked;
}

async function regroup(tx: Tx, { poolId, ids, now }: { poolId: string; ids: string[]; now: Date }): Promise<void> {
  const pool = await lockPool(tx, poolId);
  const at = nextCommitTime([pool], now);
  const changed = await recomputeGroups(tx, { scope: scopeOfPool(poolId), at, seq: pool.seq + 1 }, ids);
  await recomputeOverridesOf(tx, ids, { at, advancingPoolIds: new Set() });
  if (changed.size > 0) await advancePools(tx, [poolId], at);
}

/**
 * Recomputes which items have another root for the organization than for everyone else. An item that it split off is a root, and the next
 * item leads the rest of the group; merged groups have one root. Returns whether anything changed.
 */
export async function recomputeOverrides(tx: Tx, orgId: string, at: Date): Promise<boolean> {
  const overrides = await listGroupOverrides(tx, orgId);
  const ids = overrides.flatMap(({ item_id, merged_into }) => (merged_into ? [item_id, merged_into] : [item_id]));
  const items = ids.length === 0 ? [] : await listVisibleGroups(tx, orgId, ids);
  const roots = findRoots(items, overrides);
  const moves = items
    .filter((item) => roots.get(item.id) !== item.duplicate_of)
    .map(({ id }) => ({ id, root: roots.get(id) ?? null }));
  await replaceRootOverrides(tx, orgId, moves, at);
  const before = overrides.filter(({ moved }) => moved).map((row) => `${row.item_id} ${row.duplicate_of}`);
  const after = moves.map(({ id, root }) => `${id} ${root}`);
  return after.toSorted().join() !== before.toSorted().join();
}

/**
 * Recomputes the overrides of every organization that overrides one of these items. Advances the private pools of organizations whose roots
 * changed, except for pools that the transaction advances anyway.
 */
async function recomputeOverridesOf(
  tx: Tx,
  itemIds: string[],
  { at, advancingPoolIds }: { at: Date; advancingPoolIds: ReadonlySet<string> },
): Promise<void> {
  for (const { org_id, pool_id } of await listOrgsWithGroupOverrides(tx, itemIds))
    if ((await recomputeOverrides(tx, org_id, at)) && !advancingPoolIds.has(pool_id))
      await incrementPoolSeq(tx, pool_id);
}

/** Returns the root of each item as the organization sees it; null for an item that is a root or has no group. */
function findRoots(items: VisibleItem[], overrides: GroupOverrideRow[]): Map<string, string | null> {
  const overrideByItem = new Map(overrides.map((override) => [override.item_id, override]));
  const isAlone = ({ id, status }: VisibleItem): boolean => {
    const override = overrideByItem.get(id);
    return status === 'retracted' || override?.status === 'retracted' || (override?.stands_apart ?? false);
  };
  const groups = new Map<string, VisibleItem[]>();
  const groupByItem = new Map<string, string>();
  for (const item of items) {
    const name = isAlone(item) ? item.id : `with ${item.duplicate_of ?? item.id}`;
    groups.set(name, [...(groups.get(name) ?? []), item]);
    groupByItem.set(item.id, name);
  }
  const mergeTargets = new Map<string, string>();
  for (const { item_id, merged_into } of overrides) {
    const from = groupByItem.get(item_id);
    const to = merged_into === null ? undefined : groupByItem.get(merged_into);
    if (from !== undefined && to !== undefined && finalGroup(from) !== finalGroup(to))
      mergeTargets.set(finalGroup(from), finalGroup(to));
  }
  const roots = new Map<string, string | null>();
  for (const [name, parts] of Map.groupBy(groups.keys(), finalGroup)) {
    const { id: root } = electRoot(groups.get(name)!);
    for (const { id } of parts.flatMap((part) => groups.get(part)!)) roots.set(id, id === root ? null : root);
  }
  return roots;

  /** Follows the merges of a group to the last one. */
  function finalGroup(name: string): string {
    let current = name;
    for (let next = mergeTargets.get(current); next !== undefined; next = mergeTargets.get(current)) current = next;
    return current;
  }
}
