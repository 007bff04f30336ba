import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import {
  hitContextQuery,
  hitQuery,
  type EntityPath,
  type Hit,
  type HitDetail,
  type HitContext,
  type HitStatus,
} from '../../api/hits.ts';
import { texts } from '../../texts/hits.ts';
import { texts as incidents } from '../../texts/incidents.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorState, Skeleton } from '../../ui/states.tsx';
import { SeverityLabel } from '../../ui/labels/severity.tsx';
import { RelativeTime, ExactTime } from '../../ui/time.tsx';
import { EvidenceTable } from '../../ui/evidence/evidence-table.tsx';
import { Section } from '../../ui/section.tsx';
import { EntityHits, SharedItems, SimilarHits } from './context.tsx';
import { OpenIncident } from './open-incident.tsx';
import { Discussion } from './discussion.tsx';
import { Facts } from './facts.tsx';
import { StatusLabel } from './statuses.tsx';
import { texts as proof } from '../../texts/proof.ts';
import { Verdict } from './verdict.tsx';
import { texts as common } from '../../texts/common.ts';

const HideSimilarDialog = lazy(() => import('../../ui/tuning/hide-similar-dialog.tsx'));
const ExceptionDialog = lazy(() => import('./exception-dialog.tsx'));

/** Everything about a hit. `listed` is what the list already knows, shown until the details arrive. */
export function HitView({ id, listed }: { id: string; listed: Hit | undefined }) {
  const { data, error, refetch } = useQuery(hitQuery(id));
  const hit = data ?? listed;
  if (error && !hit) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!hit) return <HitSkeleton />;
  return (
    <article className="flex flex-col gap-6 px-4 py-5">
      <header className="flex flex-col gap-2">
        <h2 className="text-15 font-strong text-balance">{hit.headline}</h2>
        <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-12 text-muted">
          <SeverityLabel severity={hit.severity} />
          <StatusLabel status={hit.status} />
          {hit.status === 'false_positive' && <HideSimilar hit={hit} />}
          <RelativeTime time={hit.lastSeenAt} />
          <Link
            to="/hits/entity"
            search={{ type: hit.entityType as EntityPath['type'], name: hit.entity }}
            title={texts.profile.open}
            className="min-w-0 text-accent wrap-anywhere hover:underline"
          >
            {hit.entity}
          </Link>
          <HitIncident hit={hit} />
        </div>
      </header>
      <Verdict hit={hit} details={data} />
      {data ? (
        <Evidence hit={data} />
      ) : (
        <Section title={texts.evidence}>
          <Skeleton className="h-28" />
        </Section>
      )}
      {hit.nextStep !== hit.openQuestion?.trim() && (
        <Section title={texts.next}>
          <p className="max-w-[72ch] break-words">{hit.nextStep}</p>
        </Section>
      )}
      {data && (
        <>
          <Discussion hitId={id} />
          <Details hit={data} />
        </>
      )}
    </article>
  );
}

/** Offers exceptions for a false positive. */
function HideSimilar({ hit }: { hit: Hit }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <button type="button" className="text-accent hover:underline" onClick={() => setIsOpen(true)}>
        {proof.similar.open}
      </button>
      <Suspense>
        {isOpen && (
          <HideSimilarDialog detectionId={hit.detectionId} hitIds={[hit.id]} onClose={() => setIsOpen(false)} />
        )}
      </Suspense>
    </>
  );
}

/** Leads to the incident of a hit, or opens one from it. */
function HitIncident({ hit }: { hit: Hit }) {
  if (hit.incidentId !== null)
    return (
      <Link to="/incidents/$id" params={{ id: hit.incidentId }} className="text-accent hover:underline">
        {incidents.one}
      </Link>
    );
  return <OpenIncident hitIds={[hit.id]} />;
}

const citedOfRows = ({ evidence }: Hit) => evidence.filter(({ observation }) => observation === 'rows');

/** The rows that prove the hit. An exception begins from the hit or from one of their values. */
function Evidence({ hit }: { hit: HitDetail }) {
  const [excepted, setExcepted] = useState<string | null>(null);
  return (
    <Section title={texts.evidence} actions={<Button onClick={() => setExcepted('')}>{texts.exception.open}</Button>}>
      <EvidenceTable rows={hit.rows} evidence={citedOfRows(hit)} onExcept={setExcepted} />
      <Suspense>
        {excepted !== null && <ExceptionDialog hit={hit} field={excepted} onClose={() => setExcepted(null)} />}
      </Suspense>
    </Section>
  );
}

function Details({ hit }: { hit: HitDetail }) {
  const { data: context, error, refetch } = useQuery(hitContextQuery(hit.id));
  return (
    <>
      <Section title={texts.facts}>
        <Facts hit={hit} />
      </Section>
      {error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : context ? (
        <>
          <SimilarHits similar={context.similar} />
          <SharedItems feedItems={context.feedItems} />
          <EntityHits title={texts.related} entityHits={context.entityHits} />
          <Timeline timeline={context.timeline} />
        </>
      ) : (
        <Skeleton className="h-40" />
      )}
    </>
  );
}

function HitSkeleton() {
  return (
    <div className="flex flex-col gap-3 px-4 py-5">
      <Skeleton className="h-5 w-3/4" />
      <Skeleton className="h-4 w-1/2" />
      <Skeleton className="h-16" />
      <Skeleton className="h-28" />
    </div>
  );
}

type Entry = HitContext['timeline'][number];

/** From the first event to the last delivery, oldest first. */
function Timeline({ timeline }: Pick<HitContext, 'timeline'>) {
  return (
    <Section title={texts.timeline}>
      <ol className="flex flex-col gap-1.5 text-12">
        {timeline.map((entry, index) => (
          <li key={`${index} ${entry.at}`} className="flex gap-3">
            <span className="w-36 shrink-0 text-muted">
              <ExactTime time={entry.at} />
            </span>
            <span className="min-w-0 break-words">
              <What entry={entry} />
            </span>
          </li>
        ))}
      </ol>
    </Section>
  );
}

function What({ entry: { kind, detail, runId, actor } }: { entry: Entry }) {
  if (kind === 'status') {
    const [status = '', reason] = splitOnce(detail ?? '', ': ');
    return (
      <>
        {Object.hasOwn(texts.status, status) ? <StatusLabel status={status as HitStatus} /> : status}
        {actor !== null && <span className="text-muted"> {common.by(actor)}</span>}
        {reason && <span className="block text-muted">{reason}</span>}
      </>
    );
  }
  if (kind === 'seen' && runId !== null)
    return (
      <Link to="/runs/$id" params={{ id: runId }} className="underline-offset-2 hover:underline">
        {texts.moments.seen}
      </Link>
    );
  return (
    <>
      {texts.moments[kind]}
      {detail && kind !== 'raised' && <span className="block text-muted">{detail}</span>}
    </>
  );
}

function splitOnce(text: string, by: string): [string, string?] {
  const at = text.indexOf(by);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + by.length)];
}
