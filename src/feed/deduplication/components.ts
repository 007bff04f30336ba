import type { Tx } from '../../platform/db/db.ts';
import {
  listComparisonRows,
  listNeighbors,
  listTies,
  type ComparisonRow,
  type PoolScope,
} from './deduplication.store.ts';
import { electRoot, groupItems, type GroupLink, type GroupNode } from './groups.ts';

// A component, the set of directly and indirectly connected items, is grouped as a whole up to this size.
const componentMax = 5_000;
const allPairsMax = 50;
const decisionWeight = 4;
const equalIdentityWeight = 3;

/** A group of items of the pool. The root may be an item of a wider pool. */
export type ItemGroup = { root: string; members: ComparisonRow[] };

/** Returns the items that are directly or indirectly connected with these, including them. Retracted items are included but belong to no group. */
export async function loadComponent(tx: Tx, scope: PoolScope, ids: string[]): Promise<ComparisonRow[]> {
  const found = new Map<string, ComparisonRow>();
  let frontier = ids;
  while (frontier.length > 0 && found.size < componentMax) {
    const rows = await listComparisonRows(tx, scope, frontier);
    for (const row of rows) found.set(row.id, row);
    // A group of a wider pool does not change here, so its other connections are not followed.
    const poolIds = rows.filter(({ pool_id }) => pool_id === scope.poolId).map(({ id }) => id);
    const neighbors = poolIds.length === 0 ? [] : await listNeighbors(tx, scope, poolIds);
    frontier = neighbors.filter((id) => !found.has(id));
  }
  return [...found.values()];
}

/** Groups the items of a component by rules and decisions. The result depends only on the items and the decisions about them. */
export async function groupComponent(tx: Tx, scope: PoolScope, items: ComparisonRow[]): Promise<ItemGroup[]> {
  const live = items.filter(({ status }) => status !== 'retracted');
  const isInPool = ({ pool_id }: ComparisonRow): boolean => pool_id === scope.poolId;
  // Items of a wider pool are represented by the root of their group.
  const nodeIds = new Map(live.map((item) => [item.id, isInPool(item) ? item.id : (item.duplicate_of ?? item.id)]));
  const nodes = new Map<string, GroupNode>();
  for (const item of live) {
    const id = nodeIds.get(item.id)!;
    const node = nodes.get(id);
    if (!node || item.order_key < node.key) nodes.set(id, { id, key: item.order_key, isFixed: !isInPool(item) });
  }
  const links = (await listLinks(tx, scope, live)).flatMap((link) => {
    const [a, b] = [nodeIds.get(link.a), nodeIds.get(link.b)];
    return a === undefined || b === undefined || a === b ? [] : [{ ...link, a, b }];
  });
  const poolItems = new Map(live.filter(isInPool).map((item) => [item.id, item]));
  return groupItems([...nodes.values()], links).flatMap((ids) => {
    const members = ids.flatMap((id) => poolItems.get(id) ?? []);
    if (members.length === 0) return [];
    const fixedId = ids.find((id) => nodes.get(id)!.isFixed);
    return [{ root: fixedId ?? electRoot(members).id, members }];
  });
}

async function listLinks(tx: Tx, scope: PoolScope, items: ComparisonRow[]): Promise<GroupLink[]> {
  const itemIds = items.map(({ id }) => id);
  const { links, decisions, aliases } = await listTies(tx, scope, itemIds);
  const byKey = Map.groupBy(items, ({ canonical_key }) => canonical_key);
  const orderKeys = new Map(items.map((item) => [item.id, item.order_key]));
  const equalIds = [
    ...[...byKey.values()].map((same) => same.map(({ id }) => id)),
    ...aliases.map(({ ids }) => ids.filter((id) => orderKeys.has(id))),
  ];
  return [
    ...decisions.map(({ a, b, verdict }): GroupLink => ({ a, b, kind: verdict, weight: decisionWeight })),
    ...equalIds.flatMap((ids) =>
      pairEqualIds(ids.toSorted((a, b) => (orderKeys.get(a)! < orderKeys.get(b)! ? -1 : 1))),
    ),
    ...links.map(({ a, b, weight }): GroupLink => ({ a, b, kind: 'same', weight })),
  ];
}

/** Links all pairs of a short list. In a long list, each item is linked with the next two. */
function pairEqualIds(ids: string[]): GroupLink[] {
  const reach = ids.length <= allPairsMax ? ids.length : 2;
  return ids.flatMap((a, index) =>
    ids
      .slice(index + 1, index + 1 + reach)
      .map((b): GroupLink => ({ a, b, kind: 'same', weight: equalIdentityWeight })),
  );
}
