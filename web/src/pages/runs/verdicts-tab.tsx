import { Link } from '@tanstack/react-router';
import { isResponse, type Run } from '../../api/runs.ts';
import { texts as agents } from '../../texts/agents.ts';
import { texts as evidence } from '../../texts/evidence.ts';
import { texts } from '../../texts/runs.ts';
import { CodeBlock } from '../../ui/code/code-block.tsx';
import { CitedCells } from '../../ui/evidence/cited-cells.tsx';
import { SeverityMark } from '../../ui/labels/severity.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { VerdictView } from '../../ui/evidence/verdict-view.tsx';
import { texts as common } from '../../texts/common.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Value } from '../../ui/value.tsx';

/** Each verdict beside what it cites. Hits come first. */
export function VerdictsTab({ run }: { run: Run }) {
  const verdicts = run.entities.toSorted((a, b) => Number(b.triggered) - Number(a.triggered));
  if (verdicts.length === 0)
    return (
      <EmptyState
        title={texts.noVerdicts}
        action={
          <Link to="/detections/$id" params={{ id: run.detectionId }} className={buttonClass('primary')}>
            {common.nextStep.detection}
          </Link>
        }
      >
        {texts.noVerdictsHint}
      </EmptyState>
    );
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
              <span className="min-w-0 font-mono text-12 break-all">
                <Value value={verdict.entity} at={run.windowTo} />
              </span>
              {verdict.triggered && !isResponse(run) && (
                <Link
                  to="/hits"
                  search={{ detection: run.detectionId, entity: verdict.entity }}
                  className="ml-auto shrink-0 text-12 text-accent underline-offset-2 hover:underline"
                >
                  {texts.verdictHits}
                </Link>
              )}
            </p>
            <VerdictView verdict={verdict} titles={isResponse(run) ? agents.verdicts : undefined} />
            {verdict.triggered && verdict.nextStep !== verdict.openQuestion?.trim() && (
              <p className="max-w-[72ch] text-12 break-words">
                <span className="text-muted">{evidence.nextStep}:</span> {verdict.nextStep}
              </p>
            )}
          </div>
          <div className="flex min-w-0 flex-col gap-3">
            <CitedCells cells={verdict.evidence} />
            {verdict.output !== undefined && (
              <CodeBlock isWrapped label={texts.output} text={JSON.stringify(verdict.output, null, 2)} />
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}
