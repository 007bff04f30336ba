import type { Tx } from '../../platform/db/db.ts';
import { connectNodes } from '../../platform/lib/connected-components.ts';
import {
  listComparisonRows,
  listNeighbors,
  listTies,
  type ComparisonRow,
  type PoolScope,
  type RootCandidate,
} from './deduplication.store.ts';

/** An item. If `isFixed` is set, a group of a wider pool, which does not change. `key` orders nodes independently of their arrival. */
export type GroupNode = { id: string; key: string; isFixed: boolean };

/** A relation of two items. `together` and `apart` are decisions of a person, `same` follows from the rules. A higher `weight` takes precedence. */
export type GroupLink = { a: string; b: string; kind: 'same' | 'together' | 'apart'; weight: number };

/**
 * Groups items that are connected by links, except for pairs that a person separated and for groups that are both fixed. The order in which
 * links are processed follows from the items, so the result does not depend on the order of arrival.
 */
export function groupItems(nodes: GroupNode[], links: GroupLink[]): string[][] {
  const nodeById = new Map(nodes.map((node) => [node.id, node]));
  const apart = new Set(links.filter(({ kind }) => kind === 'apart').map(({ a, b }) => pairName(a, b)));
  const keyOf = (id: string): string => nodeById.get(id)!.key;
  const nameOf = ({ a, b }: GroupLink): string => [keyOf(a), keyOf(b)].toSorted().join('\n');
  const joining = links
    .filter(({ kind, a, b }) => kind !== 'apart' && nodeById.has(a) && nodeById.has(b))
    .map((link) => ({ ...link, name: nameOf(link) }))
    .toSorted((one, two) => two.weight - one.weight || compare(one.name, two.name));
  return [...new Set(connectNodes(nodeById.keys(), joining, canJoin).values())].map((ids) => [...ids]);

  function canJoin(groupA: Set<string>, groupB: Set<string>): boolean {
    const hasFixed = (ids: Set<string>): boolean => [...ids].some((id) => nodeById.get(id)!.isFixed);
    if (hasFixed(groupA) && hasFixed(groupB)) return false;
    return apart.size === 0 || ![...groupA].some((a) => [...groupB].some((b) => apart.has(pairName(a, b))));
  }
}

const pairName = (a: string, b: string): string => (a < b ? `${a} ${b}` : `${b} ${a}`);
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Returns the root of a group: the current root, or if there is none or more than one, the item that the feed added first. */
export function electRoot(members: RootCandidate[]): RootCandidate {
  const ids = new Set(members.map(({ id }) => id));
  const currentRoots = members.filter(({ duplicate_of }) => duplicate_of === null || !ids.has(duplicate_of));
  const publishedMs = ({ publish_time }: RootCandidate): number => publish_time?.getTime() ?? Number.MAX_VALUE;
  const [first] = (currentRoots.length > 0 ? currentRoots : members).toSorted(
    (a, b) =>
      a.added_to_feed_at.getTime() - b.added_to_feed_at.getTime() ||
      publishedMs(a) - publishedMs(b) ||
      compare(a.id, b.id),
  );
  return first!;
}

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
