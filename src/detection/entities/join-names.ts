import { compareCodeUnits } from '../../platform/lib/text/canonical-text.ts';
import { entityTypes, nameEntity, toKey, type EntityKey, type EntityName, type OwnNames } from './entity-names.ts';

/** Two names that are one entity, or that are not. `a` is the name under which the entity was known to a person. */
export type EntityLink = {
  a: EntityName;
  b: EntityName;
  isJoined: boolean;
  source: 'person' | 'list' | 'log';
  why: string;
};

/** Links in this order decide. Those of the rules come last. */
const sources = ['person', 'list', 'log', 'rule'] as const;
type Edge = { a: string; b: string; source: (typeof sources)[number]; why: string };

const ownName = 'It is the name of the entity.';

/**
 * Joins names to entities and returns the entity of each by its key. The result is a function of the two sets, whatever their order. What a person
 * separated stays apart: a link that would connect it does not count, and links of the separated alias give way to those of the other names.
 */
export function joinNames(
  names: Iterable<EntityName>,
  links: readonly EntityLink[],
  own: OwnNames,
): Map<string, EntityKey> {
  const nodes = new Map<string, EntityName>();
  const edges: Edge[] = [];
  const add = (name: EntityName): string => {
    const key = toKey(name);
    if (nodes.has(key)) return key;
    nodes.set(key, { type: name.type, name: name.name });
    const entity = nameEntity({ type: name.type, value: name.name }, own);
    if (entity.key !== key) edges.push({ a: add(entity), b: key, source: 'rule', why: entity.why });
    return key;
  };
  for (const name of names) add(name);
  const separated: [string, string][] = [];
  for (const { a, b, isJoined, source, why } of links) {
    const pair: [string, string] = [add(a), add(b)];
    if (isJoined) edges.push({ a: pair[0], b: pair[1], source, why });
    else if (pair[0] !== pair[1]) separated.push(pair);
  }
  const aside = new Set(separated.map(([, alias]) => alias));
  const rankOf = ({ a, b, source }: Edge): number =>
    source !== 'person' && (aside.has(a) || aside.has(b)) ? sources.length : sources.indexOf(source);
  const sets = createSets(separated);
  const used = edges
    .toSorted((x, y) => rankOf(x) - rankOf(y) || compareCodeUnits(x.a, y.a) || compareCodeUnits(x.b, y.b))
    .filter(({ a, b }) => sets.join(a, b));
  return nameSets(nodes, used, sets.find);
}

/** Disjoint sets of keys that are merged, except for pairs that must stay apart. */
function createSets(apart: readonly [string, string][]) {
  const parents = new Map<string, string>();
  const foes = new Map<string, string[]>();
  for (const [a, b] of apart) {
    foes.set(a, [...(foes.get(a) ?? []), b]);
    foes.set(b, [...(foes.get(b) ?? []), a]);
  }
  const find = (key: string): string => {
    let root = key;
    for (let next = parents.get(root); next !== undefined; next = parents.get(root)) root = next;
    if (root !== key) parents.set(key, root);
    return root;
  };
  /** Merges the sets of two keys unless a pair must stay apart. Returns whether the keys are now in one set. */
  const join = (one: string, other: string): boolean => {
    const [a, b] = [find(one), find(other)];
    if (a === b) return true;
    if (foes.get(a)?.some((foe) => find(foe) === b)) return false;
    parents.set(b, a);
    foes.set(a, [...(foes.get(a) ?? []), ...(foes.get(b) ?? [])]);
    return true;
  };
  return { find, join };
}

/** Names each set by a name that people and lists joined others to, else by its type, else by its shortest name. */
function nameSets(
  nodes: ReadonlyMap<string, EntityName>,
  edges: readonly Edge[],
  find: (key: string) => string,
): Map<string, EntityKey> {
  const aliases = new Set(edges.flatMap(({ b, source }) => (source === 'rule' || source === 'log' ? [] : [b])));
  const compare = (x: string, y: string): number => {
    const [one, other] = [nodes.get(x)!, nodes.get(y)!];
    return (
      Number(aliases.has(x)) - Number(aliases.has(y)) ||
      entityTypes.indexOf(one.type) - entityTypes.indexOf(other.type) ||
      one.name.length - other.name.length ||
      compareCodeUnits(x, y)
    );
  };
  const best = new Map<string, string>();
  for (const key of nodes.keys()) {
    const root = find(key);
    const known = best.get(root);
    if (known === undefined || compare(key, known) < 0) best.set(root, key);
  }
  const reasons = new Map<string, string>();
  for (const { a, b, why } of edges) {
    if (!reasons.has(b)) reasons.set(b, why);
    if (best.get(find(a)) !== a && !reasons.has(a)) reasons.set(a, why);
  }
  return new Map(
    [...nodes.keys()].map((key) => {
      const root = best.get(find(key))!;
      const entity = nodes.get(root)!;
      const { isShared } = nameEntity({ type: entity.type, value: entity.name }, new Set());
      return [key, { ...entity, key: root, why: root === key ? ownName : (reasons.get(key) ?? ownName), isShared }];
    }),
  );
}
