import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { EntityDetail, EntityType } from '../../api/entities.ts';
import { toWords } from '../../lib/text.ts';
import { texts } from '../../texts/entities.ts';
import { ShowMore } from '../../ui/lists/show-more.tsx';
import { Section } from '../../ui/section.tsx';
import { listPublishers } from './publishers.ts';

const shownFirst = 8;

const countries = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' });
const countryCode = /^[A-Z]{2}$/;

/** The relationships of an entity that passages of the items state: each once, with the publisher and the passage. */
export function EntityRelationships({ entity }: { entity: EntityDetail }) {
  const groups = groupRelationships(entity, entity.relationships);
  if (groups.length === 0) return null;
  return (
    <Section title={texts.relationships} count={groups.reduce((sum, { related }) => sum + related.length, 0)}>
      {groups.map((group) => (
        <Group key={`${group.type} ${group.isInverse} ${group.endType}`} entity={entity} group={group} />
      ))}
    </Section>
  );
}

function Group({
  entity,
  group: { type, isInverse, endType, related },
}: {
  entity: EntityDetail;
  group: RelationshipGroup;
}) {
  const [limit, setLimit] = useState(shownFirst);
  return (
    <section className="flex flex-col gap-0.5 pt-1">
      <h4 className="text-12 text-faint">{texts.connection(type, endType, isInverse)}</h4>
      <ul className="flex flex-col">
        {related.slice(0, limit).map((one) => (
          <RelatedRow key={one.end.name} entity={entity} related={one} />
        ))}
      </ul>
      {related.length > limit && (
        <ShowMore onClick={() => setLimit(related.length)}>{texts.more(related.length - limit)}</ShowMore>
      )}
    </section>
  );
}

function RelatedRow({ entity, related: { end, itemIds, statements } }: { entity: EntityDetail; related: Related }) {
  const [showsAll, setShowsAll] = useState(false);
  const publishers = listPublishers(entity, itemIds);
  return (
    <li className="flex flex-col py-1">
      <span className="flex items-baseline gap-3">
        <span className="min-w-0 grow break-words">
          <End end={end} entity={entity} />
        </span>
        <span className="max-w-44 shrink-0 truncate text-12 text-muted" title={publishers}>
          {publishers}
        </span>
      </span>
      {statements.slice(0, showsAll ? undefined : 1).map(({ itemId, passage }) => (
        <Link
          key={`${itemId} ${passage}`}
          to="/feed/$id"
          params={{ id: itemId }}
          className="line-clamp-2 text-12 break-words text-muted hover:text-ink hover:underline"
        >
          {passage}
        </Link>
      ))}
      {!showsAll && statements.length > 1 && (
        <ShowMore onClick={() => setShowsAll(true)}>{texts.morePassages(statements.length - 1)}</ShowMore>
      )}
    </li>
  );
}

const linkClass = 'hover:text-accent hover:underline';

/** The other end of a connection: names lead to their entity, techniques to their items. Countries are stated by their codes. */
function End({ end: { type, name }, entity }: { end: RelatedEnd; entity: EntityDetail }) {
  if (type in texts.types)
    return (
      <Link to="/entities" search={{ kind: type as EntityType, name }} className={linkClass}>
        {name}
      </Link>
    );
  if (type === 'technique')
    return (
      <Link to="/feed" search={{ technique: name }} className={linkClass}>
        <span className="tabular font-mono text-12">{name}</span>{' '}
        {entity.techniques.find(({ id }) => id === name)?.name}
      </Link>
    );
  return type === 'country' && countryCode.test(name) ? (countries.of(name) ?? name) : toWords(name);
}

type Relationship = EntityDetail['relationships'][number];
type RelatedEnd = Relationship['target'];
type Statement = Pick<Relationship, 'itemId' | 'passage'>;
/** The entities that an entity is connected with in one way, the items that state it, and each different passage of them. */
type Related = { end: RelatedEnd; itemIds: string[]; statements: Statement[] };
type RelationshipGroup = {
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
function groupRelationships(entity: RelatedEnd, relationships: readonly Relationship[]): RelationshipGroup[] {
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
