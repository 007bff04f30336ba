import { Link } from '@tanstack/react-router';
import type { HitContext } from '../../api/hits.ts';
import { texts } from '../../texts/hits.ts';
import { Section } from '../../ui/section.tsx';
import { severities, SeverityMark, type Severity } from '../../ui/labels/severity.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { StatusLabel } from './statuses.tsx';

const line = 'flex items-start gap-2.5 rounded-control px-2 py-1.5 hover:bg-hover';
const rows = '-mx-2 flex flex-col';

/** How people judged similar hits of the detection, and why. */
export function SimilarHits({ similar }: Pick<HitContext, 'similar'>) {
  if (similar.length === 0) return null;
  return (
    <Section title={texts.similar} count={similar.length}>
      <ul className={rows}>
        {similar.map(({ id, severity, headline, status, reason, judgedAt, sameEntity, sharedEvidence }) => (
          <li key={id}>
            <Link to="/hits/$id" params={{ id }} className={line}>
              <span className="flex h-5 items-center">
                <SeverityMark severity={severity} />
              </span>
              <span className="min-w-0 grow">
                <span className="block truncate">{headline}</span>
                <span className="block text-12 break-words text-muted">
                  {reason && `“${reason}” · `}
                  {sameEntity && `${texts.sameEntity}${sharedEvidence.length > 0 ? ', ' : ''}`}
                  {sharedEvidence.map(({ field, value }) => `${field} ${value}`).join(', ')}
                  {!sameEntity && sharedEvidence.length === 0 && texts.sameDetection}
                </span>
              </span>
              <span className="flex shrink-0 flex-col items-end text-12 leading-5 text-muted">
                <StatusLabel status={status} />
                {judgedAt && <RelativeTime time={judgedAt} />}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Hits of an entity: the others beside that of the page, or all on the page of the entity. */
export function EntityHits({ title, entityHits }: Pick<HitContext, 'entityHits'> & { title: string }) {
  if (entityHits.length === 0) return null;
  return (
    <Section title={title} count={entityHits.length}>
      <ul className={rows}>
        {entityHits.map(({ id, severity, headline, status, createdAt }) => (
          <li key={id}>
            <Link to="/hits/$id" params={{ id }} className={line}>
              <span className="flex h-5 items-center">
                <SeverityMark severity={severity} />
              </span>
              <span className="min-w-0 grow truncate">{headline}</span>
              <span className="flex shrink-0 gap-3 text-12 leading-5 text-muted">
                <StatusLabel status={status} />
                <RelativeTime time={createdAt} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Items of the feed with an indicator that the rows contain. */
export function SharedItems({ feedItems }: Pick<HitContext, 'feedItems'>) {
  if (!feedItems || feedItems.length === 0) return null;
  return (
    <Section title={texts.feedItems} count={feedItems.length}>
      <ul className={rows}>
        {feedItems.map(({ id, title, publisher, severity, addedToFeedAt, values }) => (
          <li key={id}>
            <Link to="/feed/$id" params={{ id }} className={line}>
              <span className="flex h-5 items-center">
                <SeverityMark severity={severities.find((one) => one === severity) ?? ('none' satisfies Severity)} />
              </span>
              <span className="min-w-0 grow">
                <span className="block truncate">{title}</span>
                <span className="block text-12 text-muted">
                  {publisher} · <span className="font-mono break-all">{values.join(', ')}</span>
                </span>
              </span>
              <span className="shrink-0 text-12 leading-5 text-muted">
                <RelativeTime time={addedToFeedAt} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  );
}
