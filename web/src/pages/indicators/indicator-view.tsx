import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { sightingsQuery } from '../../api/feed.ts';
import { valueHitsQuery } from '../../api/hits.ts';
import { enrichmentsQuery } from '../../api/enrichers.ts';
import { indicatorQuery, type IndicatorLookup } from '../../api/indicators.ts';
import { formatLocal } from '../../lib/time.ts';
import { texts as enrichers } from '../../texts/enrichers.ts';
import { texts } from '../../texts/indicators.ts';
import { FactList } from '../../ui/evidence/fact-list.tsx';
import { ShowMore } from '../../ui/lists/show-more.tsx';
import { Section } from '../../ui/section.tsx';
import { SeverityMark } from '../../ui/labels/severity.tsx';
import { Sighting } from '../../ui/evidence/sighting.tsx';
import { DetailSkeleton, ErrorState } from '../../ui/states.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { Value } from '../../ui/value.tsx';
import { IndicatorStatus } from './indicator-status.tsx';

/** Sightings are kept by item. The newest items of the value are read. */
const itemsRead = 10;
const rowsShown = 10;

/** Everything known of a value: its status and why, the items that contain it, rows of the logs, and hits. */
export function IndicatorView({ value }: { value: string }) {
  const { data, error, refetch } = useQuery(indicatorQuery(value));
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <DetailSkeleton />;
  const canonical = data.normalizedValue ?? value;
  return (
    <article className="flex flex-col gap-6 px-4 py-5">
      <header className="flex flex-col gap-2">
        <Value value={canonical}>
          <h2 className="inline font-mono text-15 font-strong break-all">{canonical}</h2>
        </Value>
        <p className="flex flex-wrap items-center gap-x-4 gap-y-1 text-12 text-muted">
          <IndicatorStatus status={data.status} />
          <span>{data.type?.replaceAll('_', ' ') ?? texts.notAnIndicator}</span>
          <span>{data.why}</span>
        </p>
        {data.correction && <p className="text-12 text-muted">{texts.corrected(data.correction)}</p>}
      </header>
      <Enrichments value={canonical} />
      {data.parts && <ValueList title={texts.parts} values={data.parts} />}
      <Items lookup={data} canonical={canonical} />
      {data.covering.length > 0 && <Covering covering={data.covering} />}
      {data.inside && (
        <ValueList
          title={texts.inside}
          count={data.inside.total}
          values={data.inside.values}
          note={texts.insideNote(data.inside)}
        />
      )}
      {data.urls.length > 0 && <HostUrls urls={data.urls} />}
      <ValueSightings lookup={data} />
      <ValueHits value={canonical} />
    </article>
  );
}

/** What enrichers say of the value, with the time of the look-up. Nothing where none knows it. */
function Enrichments({ value }: { value: string }) {
  const { data } = useQuery(enrichmentsQuery([value]));
  if (!data || data.length === 0) return null;
  return (
    <Section title={enrichers.known}>
      {data.map(({ enricher, fields, at }) => (
        <div key={enricher} className="flex flex-col gap-1.5 pb-3">
          <FactList facts={fields} />
          <p className="text-12 text-muted">
            {enricher} · {enrichers.asOf} <RelativeTime time={at} />
          </p>
        </div>
      ))}
    </Section>
  );
}

function Items({ lookup, canonical }: { lookup: IndicatorLookup; canonical: string }) {
  return (
    <Section title={texts.items} count={lookup.total}>
      {lookup.items.length === 0 ? (
        <p className="text-muted">{texts.noItems}</p>
      ) : (
        <ul className="-mx-2 flex flex-col">
          {lookup.items.map((item) => (
            // An item may contain the value in several forms.
            <li key={`${item.itemId} ${item.type} ${item.value}`}>
              <Link
                to="/feed/$id"
                params={{ id: item.itemId }}
                className="flex flex-col rounded-control px-2 py-1.5 hover:bg-hover"
              >
                <span className="flex gap-3">
                  <span className="min-w-0 grow truncate">{item.title}</span>
                  <span className="text-12 text-muted">
                    <RelativeTime time={item.addedToFeedAt} />
                  </span>
                </span>
                <span className="text-12 break-words text-muted">
                  {item.publisher} · {item.type !== lookup.type && `${item.type.replaceAll('_', ' ')} · `}
                  {texts.statuses[item.status].toLowerCase()}, {withDates(item.why)}
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
      {lookup.total > lookup.items.length && (
        <Link to="/feed" search={{ indicator: canonical }} className="text-12 text-accent hover:underline">
          {texts.allItems(lookup.total)}
        </Link>
      )}
    </Section>
  );
}

/** A reason of the API with its times as days in the viewer's zone. */
const withDates = (why: string): string =>
  why.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (time) => formatLocal(time).slice(0, 10));

/** Indicators such as the network of an address, each with the reason why it covers the value. */
function Covering({ covering }: { covering: IndicatorLookup['covering'] }) {
  return (
    <Section title={texts.covering} count={covering.length}>
      <ul className="-mx-2 flex flex-col">
        {covering.map((one) => (
          <li key={`${one.itemId} ${one.value}`}>
            <Link
              to="/feed/$id"
              params={{ id: one.itemId }}
              className="flex flex-col rounded-control px-2 py-1.5 hover:bg-hover"
            >
              <span className="truncate font-mono">{one.value}</span>
              <span className="text-12 break-words text-muted">
                {texts.matches[one.match]} · {one.title} · {texts.statuses[one.status].toLowerCase()},{' '}
                {withDates(one.why)}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** URLs of the host that items contain. They say nothing about other pages of the host. */
function HostUrls({ urls }: { urls: IndicatorLookup['urls'] }) {
  return (
    <Section title={texts.urls} count={urls.length}>
      <ul className="-mx-2 flex flex-col">
        {urls.map((url) => (
          <li key={`${url.itemId} ${url.value}`}>
            <Link
              to="/feed/$id"
              params={{ id: url.itemId }}
              className="flex flex-col rounded-control px-2 py-1.5 hover:bg-hover"
            >
              <span className="truncate font-mono">{url.value}</span>
              <span className="text-12 break-words text-muted">
                {url.title} · {texts.statuses[url.status].toLowerCase()}, {withDates(url.why)}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function ValueSightings({ lookup }: { lookup: IndicatorLookup }) {
  const ids = [...new Set(lookup.items.map(({ itemId }) => itemId))].slice(0, itemsRead);
  const results = useQueries({ queries: ids.map((id) => sightingsQuery(id)) });
  const found = results
    .flatMap(({ data }) => data?.sightings ?? [])
    .filter(({ value, observed }) =>
      [lookup.normalizedValue, lookup.value].some((form) => form === value || form === observed),
    );
  // The same row is kept once for every item that contains the value.
  const [showsAll, setShowsAll] = useState(false);
  const rows = [...new Map(found.map((row) => [`${row.dataset}\n${row.event}`, row])).values()];
  return (
    <Section title={texts.sightings} count={rows.length || undefined}>
      {rows.length === 0 ? (
        <p className="text-muted">{texts.noSightings}</p>
      ) : (
        <ul className="flex flex-col text-12">
          {rows.slice(0, showsAll ? undefined : rowsShown).map((row) => (
            <Sighting key={`${row.dataset}\n${row.value}\n${row.event}`} sighting={row} />
          ))}
        </ul>
      )}
      {!showsAll && rows.length > rowsShown && (
        <ShowMore onClick={() => setShowsAll(true)}>{texts.allSightings(rows.length)}</ShowMore>
      )}
      <p className="mt-2 text-12 text-muted">{texts.sightingsNote}</p>
    </Section>
  );
}

function ValueHits({ value }: { value: string }) {
  const { data } = useQuery(valueHitsQuery(value));
  return (
    <Section title={texts.hits} count={data?.hits.length || undefined}>
      {!data || data.hits.length === 0 ? (
        <p className="text-muted">{texts.noHits}</p>
      ) : (
        <ul className="-mx-2 flex flex-col">
          {data.hits.map((hit) => (
            <li key={hit.id}>
              <Link
                to="/hits/$id"
                params={{ id: hit.id }}
                className="flex h-8 items-center gap-2.5 rounded-control px-2 hover:bg-hover"
              >
                <SeverityMark severity={hit.severity} />
                <span className="truncate">{hit.headline}</span>
                <span className="ml-auto text-12 text-muted">
                  <RelativeTime time={hit.lastSeenAt} />
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

type Props = {
  title: string;
  values: NonNullable<IndicatorLookup['parts']>;
  count?: number;
  /** A line below the title. */
  note?: string | undefined;
};

/** Values with their status, each a link to its own look-up. */
function ValueList({ title, values, count = values.length, note }: Props) {
  return (
    <Section title={title} count={count}>
      {note && <p className="text-muted">{note}</p>}
      {values.length > 0 && (
        <ul className="-mx-2 flex flex-col">
          {values.map(({ value, status }) => (
            <li key={value}>
              <Link
                to="/indicators"
                search={{ values: value, value }}
                className="flex gap-3 rounded-control px-2 py-1.5 hover:bg-hover"
              >
                <span className="min-w-0 grow truncate font-mono">{value}</span>
                <span className="text-12">
                  <IndicatorStatus status={status} />
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
