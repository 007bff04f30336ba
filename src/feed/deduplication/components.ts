import type { Tx } from '../../platform/db/db.ts';
import { electRoot, groupItems, type Link, type Node } from './groups.ts';
import { listFacts, listNeighbours, listTies, type FactsRow, type Universe } from './deduplication.store.ts';

/** Everything that hangs together is looked at as a whole, up to so many items. */
const componentMax = 5_000;
const pairedMax = 50;
const together = 4;
const equalIdentity = 3;

/** A group as it should be: its root and who belongs to it. `root` may be of a wider audience than the members. */
export type Group = { root: string; members: FactsRow[] };

/** All items that hang together with these, those included; retracted ones are among them and belong to no group. */
export async function loadComponent(tx: Tx, universe: Universe, ids: string[]): Promise<FactsRow[]> {
  const found = new Map<string, FactsRow>();
  let frontier = ids;
  while (frontier.length > 0 && found.size < componentMax) {
    const rows = await listFacts(tx, universe, frontier);
    for (const row of rows) found.set(row.id, row);
    // A group of a wider audience is taken as it is: what else hangs on it is no matter here.
    const own = rows.filter(({ pool_id }) => pool_id === universe.poolId);
    const next =
      own.length === 0
        ? []
        : await listNeighbours(
            tx,
            universe,
            own.map(({ id }) => id),
          );
    frontier = next.filter((id) => !found.has(id));
  }
  return [...found.values()];
}

/** The groups of items that hang together, as rules and decisions make them. Nothing but the items and what is said of them counts. */
export async function groupComponent(tx: Tx, universe: Universe, items: FactsRow[]): Promise<Group[]> {
  const live = items.filter(({ status }) => status !== 'retracted');
  const isOwn = ({ pool_id }: FactsRow): boolean => pool_id === universe.poolId;
  // Every item of a wider audience stands for the root of its group.
  const standIn = new Map(live.map((item) => [item.id, isOwn(item) ? item.id : (item.duplicate_of ?? item.id)]));
  const nodes = new Map<string, Node>();
  for (const item of live) {
    const id = standIn.get(item.id)!;
    const known = nodes.get(id);
    if (!known || item.order_key < known.key) nodes.set(id, { id, key: item.order_key, fixed: !isOwn(item) });
  }
  const links = await linksOf(tx, universe, live);
  const mapped = links.flatMap((link) => {
    const [a, b] = [standIn.get(link.a), standIn.get(link.b)];
    return a === undefined || b === undefined || a === b ? [] : [{ ...link, a, b }];
  });
  const byId = new Map(live.filter(isOwn).map((item) => [item.id, item]));
  return groupItems([...nodes.values()], mapped).flatMap((ids) => {
    const members = ids.flatMap((id) => byId.get(id) ?? []);
    if (members.length === 0) return [];
    const fixed = ids.find((id) => nodes.get(id)!.fixed);
    return [{ root: fixed ?? rootOf(members), members }];
  });
}

const rootOf = (members: FactsRow[]): string =>
  electRoot(
    members.map((item) => ({
      id: item.id,
      addedAt: item.added_to_feed_at.getTime(),
      publishedAt: item.publish_time?.getTime(),
      root: item.duplicate_of,
    })),
  ).id;

async function linksOf(tx: Tx, universe: Universe, items: FactsRow[]): Promise<Link[]> {
  const { links, decisions, aliases } = await listTies(
    tx,
    universe,
    items.map(({ id }) => id),
  );
  const byKey = Map.groupBy(items, ({ canonical_key }) => canonical_key);
  const order = new Map(items.map((item) => [item.id, item.order_key]));
  const equal = [
    ...[...byKey.values()].map((same) => same.map(({ id }) => id)),
    ...aliases.map(({ ids }) => ids.filter((id) => order.has(id))),
  ];
  return [
    ...decisions.map(({ a, b, verdict }): Link => ({ a, b, kind: verdict, weight: together })),
    ...equal.flatMap((ids) => pairsWithin(ids.toSorted((a, b) => (order.get(a)! < order.get(b)! ? -1 : 1)))),
    ...links.map(({ a, b, weight }): Link => ({ a, b, kind: 'same', weight })),
  ];
}

/** Every pair of a few; of many, each with the next ones. */
function pairsWithin(ids: string[]): Link[] {
  const reach = ids.length <= pairedMax ? ids.length : 2;
  return ids.flatMap((a, at) =>
    ids.slice(at + 1, at + 1 + reach).map((b): Link => ({ a, b, kind: 'same', weight: equalIdentity })),
  );
}
