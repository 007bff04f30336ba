import { Link } from '@tanstack/react-router';
import type { Run, Verdict } from '../../api/runs.ts';
import { texts as evidence } from '../../texts/evidence.ts';
import { texts } from '../../texts/runs.ts';
import { SeverityMark } from '../../ui/labels/severity.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { VerdictView } from '../../ui/labels/verdict.tsx';

/** Each verdict beside the rows that it cites. Hits come first. */
export function VerdictsTab({ run }: { run: Run }) {
  const verdicts = run.entities.toSorted((a, b) => Number(b.triggered) - Number(a.triggered));
  if (verdicts.length === 0) return <EmptyState title={texts.noVerdicts}>{texts.noVerdictsHint}</EmptyState>;
  return (
    <ul className="flex max-w-6xl flex-col">
      {verdicts.map((verdict) => (
        <li
          key={`${verdict.entityType} ${verdict.entity}`}
          className="grid gap-x-6 gap-y-4 border-b px-4 py-5 last:border-b-0 lg:grid-cols-2"
        >
          <div className="flex min-w-0 flex-col gap-3">
            <p className="flex items-center gap-2">
              <SeverityMark severity={verdict.severity} />
              <span className="min-w-0 font-mono text-12 break-all">{verdict.entity}</span>
              {verdict.triggered && (
                <Link
                  to="/hits"
                  search={{ detection: run.detectionId, entity: verdict.entity }}
                  className="ml-auto shrink-0 text-12 text-accent underline-offset-2 hover:underline"
                >
                  {texts.verdictHits}
                </Link>
              )}
            </p>
            <VerdictView verdict={verdict} showsEvidence={false} />
            {verdict.triggered && (
              <p className="max-w-[72ch] text-12 break-words">
                <span className="text-muted">{evidence.nextStep}:</span> {verdict.nextStep}
              </p>
            )}
          </div>
          <Citations verdict={verdict} />
        </li>
      ))}
    </ul>
  );
}

/** The cited cells, by row. */
function Citations({ verdict }: { verdict: Verdict }) {
  const rows = Map.groupBy(verdict.evidence, ({ rowId }) => rowId);
  return (
    <div className="flex min-w-0 flex-col gap-2">
      {[...rows].map(([rowId, cells]) => (
        <div key={rowId} className="overflow-hidden rounded-control border text-12">
          <p className="truncate border-b bg-ground px-3 py-1 font-mono text-faint" title={rowId}>
            {rowId}
          </p>
          <dl className="grid grid-cols-[minmax(5rem,9rem)_1fr] gap-x-3 gap-y-1 px-3 py-2">
            {cells.map(({ field, value, why }) => (
              <div key={`${field} ${value}`} className="contents">
                <dt className="truncate font-mono text-muted" title={field}>
                  {field}
                </dt>
                <dd className="min-w-0 break-words">
                  <mark className="rounded-small box-decoration-clone px-1 font-mono">{value}</mark>
                  {why !== '' && <span className="block text-muted">{why}</span>}
                </dd>
              </div>
            ))}
          </dl>
        </div>
      ))}
    </div>
  );
}
