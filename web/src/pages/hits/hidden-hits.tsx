import type { UseQueryResult } from '@tanstack/react-query';
import type { ExceptionPreview } from '../../api/detection-parts.ts';
import type { HitStatus } from '../../api/hits.ts';
import { countOf } from '../../lib/text.ts';
import { texts as page } from '../../texts/hits.ts';
import { Notice } from '../../ui/notice.tsx';
import { SeverityMark } from '../../ui/labels/severity.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { StatusLabel } from './statuses.tsx';

const texts = page.exception;
const shownMax = 6;

/** The hits of the last 30 days that an exception would have hidden. */
export function HiddenHits({ query: { data, error } }: { query: UseQueryResult<ExceptionPreview> }) {
  if (error)
    return (
      <Notice kind="error" title={texts.previewFailed}>
        {error.message}
      </Notice>
    );
  if (!data) return <Skeleton className="h-32" />;
  const { hidden, examined, hiddenByStatus, hits } = data;
  const statuses = Object.entries(hiddenByStatus) as [HitStatus, number][];
  const wrong = hiddenByStatus.true_positive ?? 0;
  return (
    <section aria-live="polite" className="flex flex-col gap-2 rounded-control border p-3">
      <p className="flex flex-wrap items-baseline gap-x-4 gap-y-1">
        <span className="font-strong">{texts.hidden(hidden, countOf(examined, 'hit'))}</span>
        {statuses.map(([status, count]) => (
          <span key={status} className="tabular inline-flex items-center gap-1 text-12 text-muted">
            {count} <StatusLabel status={status} />
          </span>
        ))}
      </p>
      {wrong > 0 && <Notice kind="warning" title={texts.hidesTrue(wrong)} />}
      <ul className="flex flex-col">
        {hits.slice(0, shownMax).map(({ id, headline, severity, createdAt }) => (
          <li key={id} className="flex h-6 items-center gap-2 text-12">
            <SeverityMark severity={severity} />
            <span className="min-w-0 grow truncate">{headline}</span>
            <span className="text-muted">
              <RelativeTime time={createdAt} />
            </span>
          </li>
        ))}
      </ul>
      {hidden > shownMax && <p className="text-12 text-muted">{texts.others(hidden - shownMax)}</p>}
    </section>
  );
}
