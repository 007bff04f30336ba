/**
 * Returns the connected component of each node: a set of the nodes that links join, directly or through others, which its members share. Links apply
 * in their order. A link of two components for which `canJoin` returns false does not join them.
 */
export function connectNodes(
  nodes: Iterable<string>,
  links: Iterable<{ a: string; b: string }>,
  canJoin: (one: Set<string>, other: Set<string>) => boolean = () => true,
): Map<string, Set<string>> {
  const componentOf = new Map([...nodes].map((id) => [id, new Set([id])]));
  for (const { a, b } of links) {
    const [one, other] = [componentOf.get(a)!, componentOf.get(b)!];
    if (one === other || !canJoin(one, other)) continue;
    const [large, small] = one.size >= other.size ? [one, other] : [other, one];
    for (const id of small) {
      large.add(id);
      componentOf.set(id, large);
    }
  }
  return componentOf;
}
