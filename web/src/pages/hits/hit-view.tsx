import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { entityHitsQuery, hitQuery, type Hit, type HitDetail } from '../../api/hits.ts';
import { texts } from '../../texts/hits.ts';
import { ErrorState, Skeleton } from '../../ui/states.tsx';
import { SeverityLabel, SeverityMark } from '../../ui/severity.tsx';
import { ExactTime, RelativeTime } from '../../ui/time.tsx';
import { EvidenceTable } from '../../ui/evidence-table.tsx';
import { Facts } from './facts.tsx';
import { StatusLabel } from './statuses.tsx';

/** Everything about a hit. `listed` is what the list already knows, shown until the details arrive. */
export function HitView({ id, listed }: { id: string; listed: Hit | undefined }) {
  const { data, error, refetch } = useQuery(hitQuery(id));
  const hit = data ?? listed;
  if (error && !hit) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!hit) return <HitSkeleton />;
  return (
    <article className="flex flex-col gap-6 p-5">
      <header className="flex flex-col gap-2">
        <h2 className="text-15 font-strong text-balance">{hit.headline}</h2>
        <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-12 text-muted">
          <SeverityLabel severity={hit.severity} />
          <StatusLabel status={hit.status} />
          <RelativeTime time={hit.lastSeenAt} />
        </div>
        <p className="max-w-[72ch] break-words">{hit.summary}</p>
        {!hit.judged && <p className="text-muted">{texts.unjudged}</p>}
        {hit.modelDisagrees && (
          <p className="text-muted">
            {texts.disagrees} {hit.modelDisagrees}
          </p>
        )}
      </header>
      <Section title={texts.evidence}>
        {data ? <EvidenceTable rows={data.rows} evidence={data.evidence} /> : <Skeleton className="h-28" />}
      </Section>
      <Section title={texts.next}>
        <p className="max-w-[72ch] break-words">{hit.nextStep}</p>
      </Section>
      {data && <Details hit={data} />}
    </article>
  );
}

function Details({ hit }: { hit: HitDetail }) {
  const { data: related } = useQuery(entityHitsQuery(hit.entity));
  const others = related?.hits.filter(({ id }) => id !== hit.id) ?? [];
  return (
    <>
      <Section title={texts.facts}>
        <Facts hit={hit} />
      </Section>
      {others.length > 0 && (
        <Section title={texts.related}>
          <ul className="-mx-2 flex flex-col">
            {others.map((other) => (
              <li key={other.id}>
                <Link
                  to="/hits/$id"
                  params={{ id: other.id }}
                  className="flex h-8 items-center gap-2.5 rounded-control px-2 hover:bg-hover"
                >
                  <SeverityMark severity={other.severity} />
                  <span className="truncate">{other.headline}</span>
                  <span className="ml-auto text-12 text-muted">
                    <RelativeTime time={other.lastSeenAt} />
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Section title={texts.timeline}>
        <ol className="flex flex-col gap-1.5 text-12">
          {hit.history.map((change) => (
            <li key={change.at} className="flex gap-3">
              <span className="w-36 shrink-0 text-muted">
                <ExactTime time={change.at} />
              </span>
              <span>
                <StatusLabel status={change.to} />
                {change.reason && <span className="block text-muted">{change.reason}</span>}
              </span>
            </li>
          ))}
          {hit.occurrences.map((occurrence) => (
            <li key={occurrence.runId} className="flex gap-3">
              <span className="w-36 shrink-0 text-muted">
                <ExactTime time={occurrence.seenAt} />
              </span>
              <span>
                Found in the window from <ExactTime time={occurrence.windowFrom} />
              </span>
            </li>
          ))}
        </ol>
      </Section>
    </>
  );
}

function Section({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section className="flex flex-col gap-2">
      <h3 className="text-12 font-strong text-muted">{title}</h3>
      {children}
    </section>
  );
}

function HitSkeleton() {
  return (
    <div className="flex flex-col gap-3 p-5">
      <Skeleton className="h-5 w-3/4" />
      <Skeleton className="h-4 w-1/2" />
      <Skeleton className="h-16" />
      <Skeleton className="h-28" />
    </div>
  );
}
