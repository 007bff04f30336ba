import { Fragment } from 'react';
import type { Verdict } from '../../api/runs.ts';
import { classes } from '../../lib/text.ts';
import { texts } from '../../texts/evidence.ts';
import { SeverityLabel } from './severity.tsx';

type Props = { verdict: Verdict | null; showsEvidence?: boolean };

/** The verdict on an entity, and the values of its rows that the decision cites. */
export function VerdictView({ verdict, showsEvidence = true }: Props) {
  if (!verdict) return null;
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-12 text-muted">
        <span className={classes('font-strong', verdict.triggered && 'text-ink')}>
          {verdict.triggered ? texts.triggered : texts.notTriggered}
        </span>
        {verdict.triggered && <SeverityLabel severity={verdict.severity} />}
        <span className="tabular">{texts.confidence(verdict.confidence)}</span>
      </div>
      <p className="font-strong break-words">{verdict.headline}</p>
      <p className="max-w-[72ch] break-words text-muted">{verdict.summary}</p>
      {verdict.unjudgedReason && <p className="text-12 text-muted">{texts.unjudged}</p>}
      {showsEvidence && verdict.evidence.length > 0 && (
        <dl className="mt-1 grid grid-cols-[minmax(5rem,auto)_1fr] gap-x-3 gap-y-1 text-12">
          {verdict.evidence.map(({ rowId, field, value, why }) => (
            <Fragment key={`${rowId} ${field}`}>
              <dt className="truncate font-mono text-muted" title={field}>
                {field}
              </dt>
              <dd className="min-w-0" title={rowId}>
                <mark className="rounded-small box-decoration-clone px-1 font-mono break-words">{value}</mark>{' '}
                <span className="text-muted">{why}</span>
              </dd>
            </Fragment>
          ))}
        </dl>
      )}
    </div>
  );
}
