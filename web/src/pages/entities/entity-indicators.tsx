import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { EntityDetail } from '../../api/entities.ts';
import { classes } from '../../lib/text.ts';
import { texts } from '../../texts/entities.ts';
import { ShowMore } from '../../ui/lists/show-more.tsx';
import { Section } from '../../ui/section.tsx';

const shownFirst = 25;

/** The indicators of an entity, those that a passage states first. Each leads to everything known of its value. */
export function EntityIndicators({ indicators }: Pick<EntityDetail, 'indicators'>) {
  const [limit, setLimit] = useState(shownFirst);
  if (indicators.length === 0) return null;
  return (
    <Section title={texts.indicators} count={indicators.length}>
      {indicators.some(({ isStated }) => isStated) && <p className="text-12 text-muted">{texts.statedNote}</p>}
      <ul className="-mx-2 flex flex-col text-12">
        {indicators.slice(0, limit).map(({ type, value, status, isStated }) => (
          <li key={`${type} ${value}`}>
            <Link
              to="/indicators"
              search={{ values: value, value }}
              className="flex min-h-8 items-center gap-3 rounded-control px-2 hover:bg-hover"
            >
              <span
                title={value}
                className={classes('min-w-0 grow truncate font-mono', status !== 'active' && 'text-muted')}
              >
                {value}
              </span>
              {isStated && <span className="shrink-0 text-muted">{texts.stated}</span>}
              <span className="w-28 shrink-0 truncate text-right text-muted">
                {type.replaceAll('_', ' ')}
                {status !== 'active' && ` · ${status}`}
              </span>
            </Link>
          </li>
        ))}
      </ul>
      {indicators.length > limit && (
        <ShowMore onClick={() => setLimit(limit + 200)}>
          {texts.more(Math.min(200, indicators.length - limit))}
        </ShowMore>
      )}
    </Section>
  );
}
