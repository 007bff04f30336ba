import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { entityQuery, type EntityDetail, type EntityType } from '../../api/entities.ts';
import { ApiProblem } from '../../api/problem.ts';
import { texts } from '../../texts/entities.ts';
import { IndicatorTable } from '../../ui/indicators/indicator-table.tsx';
import { SeverityMark } from '../../ui/labels/severity.tsx';
import { ShowMore } from '../../ui/lists/show-more.tsx';
import { Section } from '../../ui/section.tsx';
import { DetailSkeleton, EmptyState, ErrorState } from '../../ui/states.tsx';
import { Day, RelativeTime } from '../../ui/time.tsx';
import { EntityRelationships } from './entity-relationships.tsx';
import { listPublishers } from './publishers.ts';
import { texts as common } from '../../texts/common.ts';
import { buttonClass } from '../../ui/button.tsx';

const aliasesShown = 12;
const itemsShown = 10;

/** Everything known of a name: aliases, when it was seen, its items, and what they say about it. */
export function EntityView({ type, name }: { type: EntityType; name: string }) {
  const { data, error, refetch } = useQuery(entityQuery(type, name));
  if (error instanceof ApiProblem && error.status === 404)
    return (
      <EmptyState
        title={texts.unknown}
        action={
          <Link to="/feed" className={buttonClass('primary')}>
            {common.nextStep.feed}
          </Link>
        }
      >
        {error.message}
      </EmptyState>
    );
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <DetailSkeleton />;
  const hasFacts = data.indicators.length + data.techniques.length + data.relationships.length > 0;
  return (
    <article className="flex flex-col gap-6 px-4 py-5">
      <header className="flex flex-col gap-2">
        <h2 className="text-15 font-strong break-words">{data.name}</h2>
        <p className="flex flex-wrap items-center gap-x-4 gap-y-1 text-12 text-muted">
          <span>{texts.types[data.type]}</span>
          {data.attackId && <span className="tabular font-mono">{data.attackId}</span>}
          <span>{texts.itemCount(data.items)}</span>
          <span>
            {texts.firstSeen} <Day time={data.firstSeen} />
          </span>
          <span>
            {texts.lastSeen} <Day time={data.lastSeen} />
          </span>
        </p>
      </header>
      {data.aliases.length > 0 && <Aliases aliases={data.aliases} />}
      <EntityRelationships entity={data} />
      <LatestItems entity={data} />
      <EntityIndicators entity={data} />
      <EntityTechniques techniques={data.techniques} />
      {!hasFacts && <p className="text-muted">{texts.none}</p>}
    </article>
  );
}

function Aliases({ aliases }: { aliases: string[] }) {
  const [showsAll, setShowsAll] = useState(false);
  return (
    <Section title={texts.aliases} count={aliases.length}>
      <ul className="flex flex-wrap gap-1.5 text-12">
        {aliases.slice(0, showsAll ? undefined : aliasesShown).map((alias) => (
          <li key={alias} className="max-w-full rounded-small border px-1.5 py-0.5 break-words text-muted">
            {alias}
          </li>
        ))}
      </ul>
      {!showsAll && aliases.length > aliasesShown && (
        <ShowMore onClick={() => setShowsAll(true)}>{texts.allAliases(aliases.length)}</ShowMore>
      )}
    </Section>
  );
}

function LatestItems({ entity: { type, name, latestItems } }: { entity: EntityDetail }) {
  const [limit, setLimit] = useState(itemsShown);
  return (
    <Section
      title={texts.latestItems}
      count={latestItems.length}
      actions={
        <Link
          to="/feed"
          search={{ [type === 'vulnerability' ? 'cve' : type]: name }}
          className="text-12 text-accent hover:underline"
        >
          {texts.inFeed}
        </Link>
      }
    >
      <ul className="-mx-2 flex flex-col">
        {latestItems.slice(0, limit).map((item) => (
          <li key={item.id}>
            <Link
              to="/feed/$id"
              params={{ id: item.id }}
              className="flex min-h-8 items-center gap-2.5 rounded-control px-2 hover:bg-hover"
            >
              <SeverityMark severity={item.severity} />
              <span className="min-w-0 grow truncate" title={item.title}>
                {item.title}
              </span>
              <span className="max-w-32 shrink-0 truncate text-12 text-muted max-md:hidden">{item.publisher}</span>
              <span className="shrink-0 text-12 text-muted">
                <RelativeTime time={item.publishTime ?? item.addedToFeedAt} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
      {latestItems.length > limit && (
        <ShowMore onClick={() => setLimit(latestItems.length)}>{texts.more(latestItems.length - limit)}</ShowMore>
      )}
    </Section>
  );
}

/** The indicators of an entity with who names them: those that a passage states first, and of these the active ones. */
function EntityIndicators({ entity }: { entity: EntityDetail }) {
  const { name, indicators } = entity;
  return (
    <IndicatorTable
      fileName={`indicators-${name}`}
      note={indicators.some(({ isStated }) => isStated) ? texts.statedNote : undefined}
      rows={indicators.map(({ type, value, status, isStated, items }) => ({
        type,
        value,
        normalizedValue: value,
        status,
        detail: [...(isStated ? [texts.stated] : []), listPublishers(entity, items)].filter(Boolean).join(' · '),
      }))}
    />
  );
}

/** The ATT&CK techniques of an entity, those that a passage states first. */
function EntityTechniques({ techniques }: Pick<EntityDetail, 'techniques'>) {
  if (techniques.length === 0) return null;
  return (
    <Section title={texts.techniques} count={techniques.length}>
      {techniques.some(({ isStated }) => isStated) && <p className="text-12 text-muted">{texts.statedNote}</p>}
      <ul className="-mx-2 flex flex-col">
        {techniques.map(({ id, name, isStated }) => (
          <li key={id}>
            <Link
              to="/feed"
              search={{ technique: id }}
              className="flex min-h-8 items-center gap-3 rounded-control px-2 hover:bg-hover"
            >
              <span className="tabular w-20 shrink-0 font-mono text-12 text-accent">{id}</span>
              <span className="min-w-0 grow truncate" title={name}>
                {name}
              </span>
              {isStated && <span className="shrink-0 text-12 text-muted">{texts.stated}</span>}
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  );
}
