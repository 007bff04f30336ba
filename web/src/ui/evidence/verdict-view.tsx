import type { Verdict } from '../../api/runs.ts';
import { classes } from '../../lib/text.ts';
import { texts } from '../../texts/evidence.ts';
import { ClaimList } from './claim-list.tsx';
import { Notice } from '../notice.tsx';
import { SeverityLabel } from '../labels/severity.tsx';

type Props = {
  verdict: Verdict;
  /** What each verdict is called, if it does not decide whether there is a hit. */
  titles?: Readonly<Record<Verdict['verdict'], string>> | undefined;
  renderSource?: React.ComponentProps<typeof ClaimList>['renderSource'];
};

/** The verdict on an entity, as its sentences. */
export function VerdictView({ verdict, titles, renderSource }: Props) {
  const { triggered, severity, confidence, headline, unjudgedReason } = verdict;
  const title =
    titles?.[verdict.verdict] ??
    (verdict.verdict === 'undecided' ? texts.undecided : triggered ? texts.triggered : texts.notTriggered);
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-12 text-muted">
        <span className={classes('font-strong', triggered && 'text-ink')}>{title}</span>
        {triggered && <SeverityLabel severity={severity} />}
        <span className="tabular">{texts.confidence(confidence)}</span>
      </div>
      <p className="font-strong wrap-anywhere">{headline}</p>
      <Statement verdict={verdict} {...(renderSource && { renderSource })} />
      {unjudgedReason && <p className="text-12 text-muted">{texts.unjudged}</p>}
    </div>
  );
}

type StatementProps = Pick<Props, 'renderSource'> & { verdict: Pick<Verdict, 'openQuestion' | 'summary' | 'claims'> };

/** What a verdict says: the question that it leaves open, and its sentences. Where none of them stands, it is the summary of the facts. */
export function Statement({ verdict: { openQuestion, summary, claims }, renderSource }: StatementProps) {
  return (
    <>
      {openQuestion !== null && (
        <Notice kind="warning" title={texts.openQuestion}>
          <p className="text-ink">{openQuestion}</p>
        </Notice>
      )}
      {claims.every(({ status }) => status === 'unproven') && <p className="max-w-[72ch] wrap-anywhere">{summary}</p>}
      <ClaimList claims={claims} {...(renderSource && { renderSource })} />
    </>
  );
}
