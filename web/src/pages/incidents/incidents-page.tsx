import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { incidentsQuery, type Incident, type IncidentFilter } from '../../api/incidents.ts';
import { useListKeys } from '../../lib/list-keys.ts';
import { useNow } from '../../lib/now.ts';
import { countOf } from '../../lib/text.ts';
import { PageHeader } from '../../shell/page-header.tsx';
import { HitLinks } from '../../shell/section-links.tsx';
import { texts } from '../../texts/incidents.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { FilterChip } from '../../ui/forms/filter-chip.tsx';
import { FilterSelect } from '../../ui/forms/filter-select.tsx';
import { SearchField } from '../../ui/forms/search-field.tsx';
import { severities, SeverityLabel, SeverityMark } from '../../ui/labels/severity.tsx';
import { EntryList, type Entry } from '../../ui/lists/entry-list.tsx';
import { LiveLabel } from '../../ui/live/live-label.tsx';
import { useDelayed } from '../../ui/live/use-delayed.ts';
import { useEventStream } from '../../ui/live/use-event-stream.ts';
import { RelativeTime } from '../../ui/time.tsx';

const route = getRouteApi('/shell/incidents');
const optionsOf = <Value extends string>(labels: Record<Value, string>) =>
  (Object.keys(labels) as Value[]).map((value) => ({ value, label: labels[value] }));
const states = optionsOf(texts.states);
const sorts = optionsOf(texts.sorts);
const severityOptions = severities.map((value) => ({ value, label: <SeverityLabel severity={value} /> }));

/** The incidents of the organization, made for the keyboard: what is open, whose it is and when it is due. */
export function IncidentsPage() {
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const now = useNow();
  const change = (next: IncidentFilter): void => void navigate({ search: (search) => ({ ...search, ...next }) });
  const open = (id: string): void => void navigate({ to: '/incidents/$id', params: { id } });
  const query = useInfiniteQuery(incidentsQuery(filter));
  const incidents = useMemo(() => query.data?.pages.flatMap((page) => page.incidents), [query.data]);
  const activeId = useListKeys(incidents ?? [], ({ id }) => id, { onOpen: ({ id }) => open(id) });
  const isFiltered = Object.values(filter).some(Boolean);
  return (
    <>
      <PageHeader title={texts.title} links={<HitLinks />} actions={<LiveIncidents />}>
        <SearchField label={texts.search} value={filter.q} onChange={(q) => change({ q })} />
        <FilterSelect
          label={texts.filters.state}
          value={filter.state}
          options={states}
          onChange={(state) => change({ state })}
        />
        <FilterSelect
          label={texts.filters.severity}
          value={filter.severity}
          options={severityOptions}
          onChange={(severity) => change({ severity })}
        />
        <FilterSelect
          label={texts.filters.sort}
          value={filter.sort}
          options={sorts}
          onChange={(sort) => change({ sort })}
        />
        {filter.owner !== undefined && (
          <FilterChip label={texts.filters.owner} value={filter.owner} onRemove={() => change({ owner: undefined })} />
        )}
        {filter.entity !== undefined && (
          <FilterChip
            label={texts.filters.entity}
            value={filter.entity}
            onRemove={() => change({ entity: undefined })}
          />
        )}
      </PageHeader>
      <div className="min-h-0 grow">
        <EntryList
          label={texts.title}
          query={query}
          entries={incidents?.map((incident) => toEntry(incident, now))}
          openId={activeId}
          onOpen={open}
          empty={
            isFiltered
              ? {
                  title: texts.empty.filtered,
                  action: <Button onClick={() => void navigate({ search: {} })}>{texts.empty.clear}</Button>,
                }
              : {
                  title: texts.empty.title,
                  children: texts.empty.body,
                  action: (
                    <Link to="/hits" className={buttonClass('primary')}>
                      {texts.empty.hits}
                    </Link>
                  ),
                }
          }
        />
      </div>
    </>
  );
}

/** Time between two readings of the list, so that a burst of events is read once. */
const refreshMs = 1000;

function LiveIncidents() {
  const client = useQueryClient();
  const refresh = useDelayed(() => void client.invalidateQueries({ queryKey: ['incidents', 'list'] }), refreshMs);
  return <LiveLabel isLive={useEventStream('incident.created,incident.updated', refresh)} />;
}

function toEntry(
  { id, severity, title, state, resolution, owner, openHits, lastAt, dueAt }: Incident,
  now: number,
): Entry {
  const isLate = state !== 'closed' && Date.parse(dueAt) < now;
  return {
    id,
    icon: <SeverityMark severity={severity} />,
    title,
    detail: [
      resolution === null ? texts.states[state] : texts.resolutions[resolution],
      owner ?? texts.unowned,
      countOf(openHits, 'open hit'),
    ].join(' · '),
    end: [
      <RelativeTime key="last" time={lastAt} />,
      state === 'closed' ? null : (
        <span key="due" className={isLate ? 'text-bad' : ''}>
          {isLate ? texts.overdue : texts.due} <RelativeTime time={dueAt} />
        </span>
      ),
    ],
  };
}
