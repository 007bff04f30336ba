import type { Tx } from '../../platform/db/db.ts';
import { incrementPoolSeq } from '../items/writing/feed-pools.store.ts';
import { replaceRootOverrides } from '../items/writing/overrides.store.ts';
import { electRoot } from './groups.ts';
import {
  listGroupOverrides,
  listOrgsWithGroupOverrides,
  listVisibleGroups,
  type GroupOverrideRow,
  type VisibleItem,
} from './deduplication.store.ts';

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
export async function recomputeOverridesOf(
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
