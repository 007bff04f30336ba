/**
 * An item or, where `fixed`, a group of a wider audience, which stays as it is. `key` orders items the same way whenever they came.
 */
export type Node = { id: string; key: string; fixed: boolean };

/** `together` and `apart` are what a person said, `same` what the rules say; `weight` orders them, the largest first. */
export type Link = { a: string; b: string; kind: 'same' | 'together' | 'apart'; weight: number };

/**
 * Which items belong together: everything that links join, except what a person told apart and groups that are fixed already. The links
 * are taken in an order that comes from the items and not from their arrival, so that the answer depends on the sets alone.
 */
export function groupItems(nodes: Node[], links: Link[]): string[][] {
  const known = new Map(nodes.map((node) => [node.id, node]));
  const group = new Map(nodes.map((node) => [node.id, new Set([node.id])]));
  const apart = new Set(links.filter(({ kind }) => kind === 'apart').map(({ a, b }) => pairName(a, b)));
  const keyOf = (id: string): string => known.get(id)!.key;
  const nameOf = ({ a, b }: Link): string => [keyOf(a), keyOf(b)].toSorted().join('\n');
  const joining = links
    .filter(({ kind, a, b }) => kind !== 'apart' && known.has(a) && known.has(b))
    .map((link) => ({ ...link, name: nameOf(link) }))
    .toSorted((one, two) => two.weight - one.weight || compare(one.name, two.name));
  for (const { a, b } of joining) {
    const [one, two] = [group.get(a)!, group.get(b)!];
    if (one === two || !mayJoin(one, two)) continue;
    const [large, small] = one.size >= two.size ? [one, two] : [two, one];
    for (const id of small) {
      large.add(id);
      group.set(id, large);
    }
  }
  return [...new Set(group.values())].map((ids) => [...ids]);

  function mayJoin(one: Set<string>, two: Set<string>): boolean {
    const hasFixed = (ids: Set<string>): boolean => [...ids].some((id) => known.get(id)!.fixed);
    if (hasFixed(one) && hasFixed(two)) return false;
    return apart.size === 0 || ![...one].some((a) => [...two].some((b) => apart.has(pairName(a, b))));
  }
}

const pairName = (a: string, b: string): string => (a < b ? `${a} ${b}` : `${b} ${a}`);
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Times of the feed and of the source as epoch milliseconds; `root` is the item that this one points to now. */
export type Member = { id: string; addedAt: number; publishedAt: number | undefined; root: string | null };

/**
 * The root of a group: the one that is it already; of several, or where none is left, the first that the feed held (spec/feed.md, "Root").
 */
export function electRoot(members: Member[]): Member {
  const ids = new Set(members.map(({ id }) => id));
  const standing = members.filter(({ root }) => root === null || !ids.has(root));
  const [first] = (standing.length > 0 ? standing : members).toSorted(
    (a, b) => a.addedAt - b.addedAt || (a.publishedAt ?? Infinity) - (b.publishedAt ?? Infinity) || compare(a.id, b.id),
  );
  return first!;
}
