import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { incidentsQuery, mergeIncidents, type IncidentDetail } from '../../api/incidents.ts';
import { texts } from '../../texts/incidents.ts';
import { Button } from '../../ui/button.tsx';
import { useChange } from '../../ui/forms/use-change.ts';
import { SearchField } from '../../ui/forms/search-field.tsx';
import { SeverityMark } from '../../ui/labels/severity.tsx';
import { Section } from '../../ui/section.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { EntityValue } from './entity-value.tsx';

const foundMax = 10;

/** Hits that are linked with an incident, and a search for others that become part of it. */
export function MergeIncidents({ incident }: { incident: IncidentDetail }) {
  const [q, setQ] = useState<string>();
  const { mutate, isPending } = useChange({
    change: (id: string) => mergeIncidents(incident, [id]),
    refresh: [['incidents'], ['hits']],
    done: () => texts.changed,
    failed: texts.failed,
  });
  const merge = (id: string) => (
    <Button kind="quiet" disabled={isPending} onClick={() => mutate(id, { onSuccess: () => setQ(undefined) })}>
      {texts.merge}
    </Button>
  );
  return (
    <Section title={texts.links} count={incident.links.length}>
      {incident.links.length > 0 && (
        <>
          <p className="text-12 text-muted">{texts.linksBody}</p>
          <ul aria-label={texts.links} className="flex flex-col gap-1">
            {incident.links.map(({ hitId, incidentId, type, value, at }) => (
              <li key={`${hitId} ${incidentId}`} className="flex flex-wrap items-center gap-x-3">
                <EntityValue type={type} value={value} at={at} />
                <Link to="/hits/$id" params={{ id: hitId }} className="text-12 text-accent hover:underline">
                  {texts.openHit}
                </Link>
                <span className="text-12 text-muted">
                  <RelativeTime time={at} />
                </span>
                {incidentId !== null && incidentId !== incident.id && merge(incidentId)}
              </li>
            ))}
          </ul>
        </>
      )}
      <SearchField label={texts.mergeSearch} value={q} onChange={setQ} />
      {q !== undefined && <FoundIncidents q={q} except={incident.id} merge={merge} />}
    </Section>
  );
}

type FoundProps = { q: string; except: string; merge: (id: string) => React.ReactNode };

function FoundIncidents({ q, except, merge }: FoundProps) {
  const { data } = useInfiniteQuery(incidentsQuery({ q }));
  if (!data) return <Skeleton className="h-8" />;
  const found = data.pages
    .flatMap(({ incidents }) => incidents)
    .filter(({ id }) => id !== except)
    .slice(0, foundMax);
  if (found.length === 0) return <p className="text-muted">{texts.empty.filtered}</p>;
  return (
    <ul aria-label={texts.mergeSearch} className="flex flex-col gap-1">
      {found.map(({ id, severity, title, lastAt }) => (
        <li key={id} className="flex flex-wrap items-center gap-x-3">
          <SeverityMark severity={severity} />
          <Link to="/incidents/$id" params={{ id }} className="min-w-0 wrap-anywhere hover:underline">
            {title}
          </Link>
          <span className="text-12 text-muted">
            <RelativeTime time={lastAt} />
          </span>
          {merge(id)}
        </li>
      ))}
    </ul>
  );
}
