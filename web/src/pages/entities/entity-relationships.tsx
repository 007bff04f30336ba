import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { EntityDetail } from '../../api/entities.ts';
import { texts } from '../../texts/entities.ts';
import { ShowMore } from '../../ui/lists/show-more.tsx';
import { Section } from '../../ui/section.tsx';

const shownFirst = 10;

type End = EntityDetail['relationships'][number]['target'];

const countries = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' });
const countryCode = /^[A-Z]{2}$/;

/** Countries are stated by their codes. */
const nameOf = ({ type, name }: End): string =>
  type === 'country' && countryCode.test(name) ? (countries.of(name) ?? name) : name;

/** What passages of the items state about an entity, each with its passage. */
export function EntityRelationships({ relationships }: Pick<EntityDetail, 'relationships'>) {
  const [limit, setLimit] = useState(shownFirst);
  if (relationships.length === 0) return null;
  return (
    <Section title={texts.relationships} count={relationships.length}>
      <ul className="-mx-2 flex flex-col">
        {relationships.slice(0, limit).map(({ type, source, target, passage, itemId }) => (
          <li key={`${itemId} ${source.name} ${type} ${target.type} ${target.name}`}>
            <Link
              to="/feed/$id"
              params={{ id: itemId }}
              className="flex flex-col gap-0.5 rounded-control px-2 py-1.5 hover:bg-hover"
            >
              <span className="break-words">
                {nameOf(source)} <span className="text-muted">{texts.kinds[type]}</span> {nameOf(target)}
              </span>
              <span className="line-clamp-2 text-12 break-words text-muted">{passage}</span>
            </Link>
          </li>
        ))}
      </ul>
      {relationships.length > limit && (
        <ShowMore onClick={() => setLimit(relationships.length)}>{texts.more(relationships.length - limit)}</ShowMore>
      )}
    </Section>
  );
}
