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
  const groupById = new Map(nodes.map((node) => [node.id, new Set([node.id])]));
  const apart = new Set(links.filter(({ kind }) => kind === 'apart').map(({ a, b }) => pairName(a, b)));
  const keyOf = (id: string): string => nodeById.get(id)!.key;
  const nameOf = ({ a, b }: GroupLink): string => [keyOf(a), keyOf(b)].toSorted().join('\n');
  const joining = links
    .filter(({ kind, a, b }) => kind !== 'apart' && nodeById.has(a) && nodeById.has(b))
    .map((link) => ({ ...link, name: nameOf(link) }))
    .toSorted((one, two) => two.weight - one.weight || compare(one.name, two.name));
  for (const { a, b } of joining) {
    const [groupA, groupB] = [groupById.get(a)!, groupById.get(b)!];
    if (groupA === groupB || !canJoin(groupA, groupB)) continue;
    const [large, small] = groupA.size >= groupB.size ? [groupA, groupB] : [groupB, groupA];
    for (const id of small) {
      large.add(id);
      groupById.set(id, large);
    }
  }
  return [...new Set(groupById.values())].map((ids) => [...ids]);

  function canJoin(groupA: Set<string>, groupB: Set<string>): boolean {
    const hasFixed = (ids: Set<string>): boolean => [...ids].some((id) => nodeById.get(id)!.isFixed);
    if (hasFixed(groupA) && hasFixed(groupB)) return false;
    return apart.size === 0 || ![...groupA].some((a) => [...groupB].some((b) => apart.has(pairName(a, b))));
  }
}

const pairName = (a: string, b: string): string => (a < b ? `${a} ${b}` : `${b} ${a}`);
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** An item of a group. `duplicate_of` is its current root. */
export type RootCandidate = {
  id: string;
  added_to_feed_at: Date;
  publish_time: Date | null;
  duplicate_of: string | null;
};

/** Returns the root of a group: the current root, or if there is none or more than one, the item that the feed added first (spec/feed.md, "Root"). */
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
