import type { EntityDetail } from '../../api/entities.ts';

type Relationship = EntityDetail['relationships'][number];
export type RelatedEnd = Relationship['target'];
export type Statement = Pick<Relationship, 'itemId' | 'passage'>;
/** The entities that an entity is connected with in one way, the items that state it, and each different passage of them. */
export type Related = { end: RelatedEnd; itemIds: string[]; statements: Statement[] };
export type RelationshipGroup = {
  type: Relationship['type'];
  /** The entity is the target: `uses` reads as “used by”. */
  isInverse: boolean;
  endType: string;
  related: Related[];
};

const isSame = (one: RelatedEnd, other: RelatedEnd): boolean => one.type === other.type && one.name === other.name;

/** The order of the groups: the arsenal first, then its targets. */
const order = ['malware', 'tool', 'vulnerability', 'actor', 'sector', 'country', 'technique'];

/** Groups what passages state about an entity by kind of connection, and the passages of one connection under it. */
export function groupRelationships(entity: RelatedEnd, relationships: readonly Relationship[]): RelationshipGroup[] {
  const groups = new Map<string, RelationshipGroup>();
  for (const { type, source, target, itemId, passage } of relationships) {
    const isInverse = !isSame(source, entity);
    const end = isInverse ? source : target;
    const key = `${type} ${isInverse} ${end.type}`;
    const group = groups.get(key) ?? { type, isInverse, endType: end.type, related: [] };
    groups.set(key, group);
    let related = group.related.find((one) => isSame(one.end, end));
    if (!related) group.related.push((related = { end, itemIds: [], statements: [] }));
    related.itemIds.push(itemId);
    if (related.statements.every((one) => one.passage !== passage)) related.statements.push({ itemId, passage });
  }
  return [...groups.values()].toSorted((a, b) => order.indexOf(a.endType) - order.indexOf(b.endType));
}
