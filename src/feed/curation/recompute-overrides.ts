import type { Tx } from '../../platform/db/db.ts';
import { electRoot } from '../deduplication/groups.ts';
import {
  listOrgsWithDecisions,
  listOverrides,
  listSeenGroups,
  movePool,
  writeMoves,
  type OverrideRow,
  type SeenItem,
} from './overrides.store.ts';

/**
 * Works out anew which items have another root for the organization than for everyone else: what it took out of a group stands alone, and
 * the next one leads the rest; what it put together has one root. Answers whether anything is otherwise than before.
 */
export async function settleOverrides(tx: Tx, orgId: string, at: Date): Promise<boolean> {
  const overrides = await listOverrides(tx, orgId);
  const ids = overrides.flatMap(({ item_id, merged_into }) => (merged_into ? [item_id, merged_into] : [item_id]));
  const items = ids.length === 0 ? [] : await listSeenGroups(tx, orgId, ids);
  const roots = rootsFor(items, overrides);
  const moves = items
    .filter((item) => roots.get(item.id) !== item.duplicate_of)
    .map(({ id }) => ({ id, root: roots.get(id) ?? null }));
  const before = overrides.filter(({ moved }) => moved).map((row) => `${row.item_id} ${row.duplicate_of}`);
  await writeMoves(tx, orgId, moves, at);
  return (
    moves
      .map(({ id, root }) => `${id} ${root}`)
      .toSorted()
      .join() !== before.toSorted().join()
  );
}

/**
 * After items of a pool changed: what organizations say of them may lead to other roots. Their private pools move; of those that the
 * transaction moves anyway nothing more is done.
 */
export async function settleDecided(
  tx: Tx,
  ids: string[],
  given: { at: Date; moving: ReadonlySet<string> },
): Promise<void> {
  for (const { org_id, pool_id } of await listOrgsWithDecisions(tx, ids))
    if ((await settleOverrides(tx, org_id, given.at)) && !given.moving.has(pool_id)) await movePool(tx, pool_id);
}

/** The root of each item in the organization's eyes; null for one that is a root or alone. */
export function rootsFor(items: SeenItem[], overrides: OverrideRow[]): Map<string, string | null> {
  const said = new Map(overrides.map((row) => [row.item_id, row]));
  const isAlone = ({ id, status }: SeenItem): boolean => {
    const word = said.get(id);
    return status === 'retracted' || word?.status === 'retracted' || (word?.stands_apart ?? false);
  };
  const groups = new Map<string, SeenItem[]>();
  const groupOf = new Map<string, string>();
  for (const item of items) {
    const name = isAlone(item) ? item.id : `with ${item.duplicate_of ?? item.id}`;
    groups.set(name, [...(groups.get(name) ?? []), item]);
    groupOf.set(item.id, name);
  }
  const target = new Map<string, string>();
  for (const { item_id, merged_into } of overrides) {
    const [from, to] = [groupOf.get(item_id), merged_into === null ? undefined : groupOf.get(merged_into)];
    if (from !== undefined && to !== undefined && end(from) !== end(to)) target.set(end(from), end(to));
  }
  const merged = Map.groupBy(groups.keys(), end);
  const roots = new Map<string, string | null>();
  for (const [name, parts] of merged) {
    const lead = groups.get(name)!;
    const { id: root } = electRoot(
      lead.map((item) => ({
        id: item.id,
        addedAt: item.added_to_feed_at.getTime(),
        publishedAt: item.publish_time?.getTime(),
        root: item.duplicate_of,
      })),
    );
    for (const { id } of parts.flatMap((part) => groups.get(part)!)) roots.set(id, id === root ? null : root);
  }
  return roots;

  /** Where a group went, through all that it was put into. */
  function end(name: string): string {
    let at = name;
    for (let next = target.get(at); next !== undefined; next = target.get(at)) at = next;
    return at;
  }
}
