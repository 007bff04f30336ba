import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { personsQuery } from '../../api/access.ts';
import {
  incidentInboxQuery,
  incidentsQuery,
  type Inbox,
  type Incident,
  type IncidentFilter,
} from '../../api/incidents.ts';
import { sessionQuery } from '../../api/session.ts';
import { useHotkeys } from '../../lib/hotkeys.ts';
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
import { Tabs } from '../../ui/tabs.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { BulkBar, useBulkChange } from './bulk-bar.tsx';

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
  // What is late is read by how late it is.
  const query = useInfiniteQuery(incidentsQuery({ ...(filter.inbox === 'late' && { sort: 'due' }), ...filter }));
  const incidents = useMemo(() => query.data?.pages.flatMap((page) => page.incidents), [query.data]);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const selected = incidents?.filter(({ id }) => chosen.has(id)) ?? [];
  const bulk = useBulkChange();
  const toggle = (id: string): void =>
    setChosen(new Set(chosen.has(id) ? [...chosen].filter((other) => other !== id) : [...chosen, id]));
  const clear = (): void => setChosen(new Set());
  const activeId = useListKeys(incidents ?? [], ({ id }) => id, {
    onOpen: ({ id }) => open(id),
    onSelect: ({ id }) => toggle(id),
  });
  useHotkeys({
    a: () => setChosen(new Set(selected.length === incidents?.length ? [] : incidents?.map(({ id }) => id))),
    u: bulk.undo,
    Escape: clear,
  });
  const { data: session } = useQuery(sessionQuery);
  const empty = toEmptyState(filter, {
    isPerson: (session?.personId ?? null) !== null,
    onClear: () => void navigate({ search: ({ inbox }) => ({ inbox }) }),
  });
  return (
    <>
      <PageHeader title={texts.title} links={<HitLinks />}>
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
        {filter.watcher !== undefined && (
          <WatcherChip id={filter.watcher} onRemove={() => change({ watcher: undefined })} />
        )}
        {filter.entity !== undefined && (
          <FilterChip
            label={texts.filters.entity}
            value={filter.entity}
            onRemove={() => change({ entity: undefined })}
          />
        )}
      </PageHeader>
      <InboxTabs current={filter.inbox} />
      <div className="relative min-h-0 grow">
        <EntryList
          label={texts.title}
          query={query}
          entries={incidents?.map((incident) => toEntry(incident, now))}
          openId={activeId}
          onOpen={open}
          selection={{ chosen, onToggle: toggle }}
          empty={empty}
        />
        {selected.length > 0 && (
          <BulkBar
            count={selected.length}
            isPending={bulk.isPending}
            onChange={(decision) => void bulk.change(selected, decision).then(clear)}
            onClear={clear}
          />
        )}
      </div>
    </>
  );
}

/** What waits for the person who is signed in, with counts, beside all incidents. */
function InboxTabs({ current }: { current: Inbox | undefined }) {
  const { data: counts } = useQuery(incidentInboxQuery);
  const inboxes = (Object.keys(texts.inbox) as Inbox[]).map((key) => ({
    key,
    label: texts.inbox[key],
    count: counts?.[key],
  }));
  return (
    <Tabs
      label={texts.inboxes}
      param="inbox"
      current={current ?? 'all'}
      tabs={[{ key: 'all', label: texts.all }, ...inboxes]}
    />
  );
}

/** Where an empty inbox leads. */
const nextSteps: Record<Inbox, IncidentFilter> = {
  mine: { inbox: 'unowned' },
  mentioned: { inbox: 'watching' },
  watching: {},
  unowned: { inbox: 'mine' },
  late: { state: 'active', sort: 'due' },
};

/** Returns what a list without incidents says, with the one next step. */
function toEmptyState(
  filter: IncidentFilter,
  { isPerson, onClear }: { isPerson: boolean; onClear: () => void },
): React.ComponentProps<typeof EntryList>['empty'] {
  const { inbox, ...others } = filter;
  if (Object.values(others).some(Boolean))
    return { title: texts.empty.filtered, action: <Button onClick={onClear}>{texts.empty.clear}</Button> };
  const link = { className: buttonClass('primary') };
  if (inbox === undefined) {
    const action = (
      <Link to="/hits" {...link}>
        {texts.empty.hits}
      </Link>
    );
    return { title: texts.empty.title, children: texts.empty.body, action };
  }
  const isPersonal = inbox === 'mine' || inbox === 'mentioned' || inbox === 'watching';
  if (isPersonal && !isPerson) {
    const action = (
      <Link to="/settings/people" {...link}>
        {texts.noPerson.next}
      </Link>
    );
    return { title: texts.noPerson.title, children: texts.noPerson.body, action };
  }
  const { title, body, next } = texts.emptyInbox[inbox];
  const action = (
    <Link to="/incidents" search={nextSteps[inbox]} {...link}>
      {next}
    </Link>
  );
  return { title, children: body, action };
}

function WatcherChip({ id, onRemove }: { id: string; onRemove: () => void }) {
  const { data } = useInfiniteQuery(personsQuery);
  const person = data?.pages.flatMap(({ persons }) => persons).find((one) => one.id === id);
  return <FilterChip label={texts.filters.watcher} value={person?.name ?? id} onRemove={onRemove} />;
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
