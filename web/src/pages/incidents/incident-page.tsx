import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Fragment, useEffect, useState } from 'react';
import { hitsQuery } from '../../api/hits.ts';
import {
  incidentInboxQuery,
  incidentQuery,
  moveIncidentHits,
  readIncidentMentions,
  splitIncident,
  type IncidentDetail,
} from '../../api/incidents.ts';
import { useHotkeys } from '../../lib/hotkeys.ts';
import { formatNumber } from '../../lib/text.ts';
import { PageHeader } from '../../shell/page-header.tsx';
import { texts as common } from '../../texts/common.ts';
import { texts as hitTexts } from '../../texts/hits.ts';
import { texts } from '../../texts/incidents.ts';
import { Button } from '../../ui/button.tsx';
import { useChange } from '../../ui/forms/use-change.ts';
import { SeverityLabel, SeverityMark } from '../../ui/labels/severity.tsx';
import { LoadMore } from '../../ui/lists/load-more.tsx';
import { Section } from '../../ui/section.tsx';
import { ErrorState, Skeleton } from '../../ui/states.tsx';
import { RelativeTime, TimeRange } from '../../ui/time.tsx';
import { EntityValue } from './entity-value.tsx';
import { IncidentActions } from './incident-actions.tsx';
import { IncidentHistory } from './incident-history.tsx';
import { IncidentStory } from './incident-story.tsx';
import { MergeIncidents } from './merge-incidents.tsx';

const route = getRouteApi('/shell/incidents/$id');

/** One incident: what happened in which order, why its hits belong together, and what people do about it. */
export function IncidentPage() {
  const { id } = route.useParams();
  const { data: incident, error, refetch } = useQuery(incidentQuery(id));
  useHotkeys({ Escape: () => history.back() });
  return (
    <>
      <PageHeader
        title={texts.one}
        tabTitle={incident?.title}
        parent={
          <Link to="/incidents" className="text-muted hover:text-ink">
            {texts.title}
          </Link>
        }
      >
        {incident && <IncidentActions incident={incident} />}
      </PageHeader>
      <div className="grow overflow-y-auto" key={id}>
        {error && !incident ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : incident ? (
          <article className="flex max-w-5xl flex-col gap-6 px-4 py-5">
            <ReadMentions id={incident.id} />
            <Headline incident={incident} />
            <IncidentStory incident={incident} />
            <Hits incident={incident} />
            <Entities incident={incident} />
            <Reasons incident={incident} />
            <MergeIncidents incident={incident} />
            <IncidentHistory id={incident.id} />
          </article>
        ) : (
          <Skeleton className="m-4 h-40" />
        )}
      </div>
    </>
  );
}

/** Marks the comments that mention the reader as read, also one that is written while the page is open. */
function ReadMentions({ id }: { id: string }) {
  const client = useQueryClient();
  const { data: inbox } = useQuery(incidentInboxQuery);
  const mentioned = inbox?.mentioned ?? 0;
  useEffect(() => {
    if (mentioned > 0)
      void readIncidentMentions(id).then(
        (counts) => {
          client.setQueryData(incidentInboxQuery.queryKey, counts);
          return client.invalidateQueries({ queryKey: ['incidents', 'list'] });
        },
        () => undefined,
      );
  }, [client, id, mentioned]);
  return null;
}

function Headline({
  incident: { title, severity, state, resolution, owner, watchers, firstAt, lastAt, dueAt },
}: {
  incident: IncidentDetail;
}) {
  return (
    <header className="flex flex-col gap-2">
      <h2 className="text-15 font-strong text-balance wrap-anywhere">{title}</h2>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-12 text-muted">
        <SeverityLabel severity={severity} />
        <span>{resolution === null ? texts.states[state] : texts.resolutions[resolution]}</span>
        <span className="wrap-anywhere">{owner ?? texts.unowned}</span>
        {watchers.length > 0 && (
          <span className="wrap-anywhere">
            {texts.watchers}{' '}
            {watchers.map(({ personId, name }, index) => (
              <Fragment key={personId}>
                {index > 0 && ', '}
                <Link to="/incidents" search={{ watcher: personId }} className="hover:underline">
                  {name}
                </Link>
              </Fragment>
            ))}
          </span>
        )}
        <span>
          <TimeRange from={firstAt} to={lastAt} />
        </span>
        {state !== 'closed' && (
          <span>
            {texts.due} <RelativeTime time={dueAt} />
          </span>
        )}
      </div>
    </header>
  );
}

function Hits({ incident }: { incident: IncidentDetail }) {
  const query = useInfiniteQuery(hitsQuery({ incident: incident.id }));
  const hits = query.data?.pages.flatMap((page) => page.hits);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const refresh = [['incidents'], ['hits']];
  const options = { refresh, failed: texts.failed };
  const split = useChange({
    ...options,
    change: () => splitIncident(incident, [...chosen]),
    done: () => texts.splitOff,
  });
  const remove = useChange({
    ...options,
    change: () => moveIncidentHits(incident, { remove: [...chosen] }),
    done: () => texts.changed,
  });
  const clear = { onSuccess: () => setChosen(new Set()) };
  const toggle = (id: string): void => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  return (
    <Section
      title={texts.hits}
      count={incident.hits}
      actions={
        chosen.size > 0 && (
          <>
            <span className="text-12 text-muted">{texts.selected(chosen.size)}</span>
            <Button disabled={split.isPending} onClick={() => split.mutate(undefined, clear)}>
              {texts.split}
            </Button>
            <Button disabled={remove.isPending} onClick={() => remove.mutate(undefined, clear)}>
              {texts.remove}
            </Button>
          </>
        )
      }
    >
      {!hits ? (
        <Skeleton className="h-20" />
      ) : (
        <ul aria-label={texts.hits} className="flex flex-col">
          {hits.map((hit) => (
            <li key={hit.id} className="flex items-start gap-2.5 border-b py-1.5">
              <input
                type="checkbox"
                aria-label={common.select(hit.headline)}
                checked={chosen.has(hit.id)}
                onChange={() => toggle(hit.id)}
                className="mt-1 size-3.5 shrink-0 accent-(--color-accent)"
              />
              <span className="flex h-5 items-center">
                <SeverityMark severity={hit.severity} />
              </span>
              <Link to="/hits/$id" params={{ id: hit.id }} className="min-w-0 grow hover:underline">
                <span className="block wrap-anywhere">{hit.headline}</span>
                <span className="block text-12 text-muted">{hit.detection.name}</span>
              </Link>
              <span className="flex shrink-0 flex-col items-end text-12 text-muted">
                <RelativeTime time={hit.lastSeenAt} />
                {hitTexts.status[hit.status]}
              </span>
            </li>
          ))}
        </ul>
      )}
      <LoadMore query={query} />
    </Section>
  );
}

/** Every value that the hits show, with what can be done with it. */
function Entities({ incident: { entities, lastAt } }: { incident: IncidentDetail }) {
  return (
    <Section title={texts.entities} count={entities.length}>
      <ul aria-label={texts.entities} className="flex flex-col gap-1">
        {entities.map(({ type, value, hits, others }) => (
          <li key={`${type} ${value}`}>
            <EntityValue type={type} value={value} at={lastAt} />{' '}
            <span className="text-12 text-muted">
              {texts.joined(hits)}, {texts.others(others)}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Reasons({ incident: { reasons, risks, lastAt } }: { incident: IncidentDetail }) {
  return (
    <Section title={texts.reasons} count={reasons.length + risks.length}>
      {reasons.length + risks.length === 0 && <p className="text-muted">{texts.noReasons}</p>}
      <ul aria-label={texts.reasons} className="flex flex-col gap-2">
        {risks.map(({ type, value, score, at, hits }) => (
          <li key={`${type} ${value} ${at}`}>
            <EntityValue type={type} value={value} at={at} />{' '}
            <span className="text-12 text-muted">{texts.risk(formatNumber(score), hits)}</span>
          </li>
        ))}
        {reasons.map(({ type, value, hits, cells }) => (
          <li key={`${type} ${value}`} className="flex flex-col gap-0.5">
            <span>
              <EntityValue type={type} value={value} at={lastAt} />{' '}
              <span className="text-12 text-muted">{texts.joined(hits)}</span>
            </span>
            <span className="flex flex-wrap gap-x-3 text-12 text-muted">
              {cells
                .filter(({ field }) => field !== null)
                .map(({ hitId, rowId, field }) => (
                  <Link
                    key={`${hitId} ${rowId} ${field}`}
                    to="/hits/$id"
                    params={{ id: hitId }}
                    className="font-mono wrap-anywhere hover:underline"
                  >
                    {field} · {rowId}
                  </Link>
                ))}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
