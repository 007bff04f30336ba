import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { isResponse, runStepsQuery, type Run } from '../../api/runs.ts';
import { texts as agents } from '../../texts/agents.ts';
import { texts as all } from '../../texts/runs.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { ClaimSource } from '../../ui/evidence/claim-source.tsx';
import { VerdictView } from '../../ui/evidence/verdict-view.tsx';
import { SeverityMark } from '../../ui/labels/severity.tsx';
import { TableSkeleton } from '../../ui/lists/table-skeleton.tsx';
import { Section } from '../../ui/section.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { PartView, goToObservation } from './part-view.tsx';
import { readInvestigations, type Investigation, type Question } from './transcript.ts';
import { texts as common } from '../../texts/common.ts';
import { Link } from '@tanstack/react-router';

const texts = all.steps;

type Case = Pick<Investigation, 'entity'> & { candidateId?: string | undefined };

const isSameCase = (a: Case, b: Case): boolean => a.entity === b.entity && a.candidateId === b.candidateId;

/** How each candidate was investigated: the questions, what was asked and found, and what follows. The one on `entity` is open, else the first. */
export function InvestigationsTab({ run, entity }: { run: Run; entity: string | undefined }) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    runStepsQuery(run.id),
  );
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <TableSkeleton />;
  const investigations = readInvestigations(data.pages.flatMap((page) => page.steps));
  if (investigations.length === 0)
    return (
      <EmptyState
        title={texts.none}
        action={
          <Link to="/detections/$id" params={{ id: run.detectionId }} className={buttonClass('primary')}>
            {common.nextStep.detection}
          </Link>
        }
      >
        {texts.noneHint}
      </EmptyState>
    );
  const opened = investigations.findLast((one) => one.entity === entity) ?? investigations[0];
  return (
    <div className="flex max-w-6xl flex-col gap-3 px-4 py-5">
      {investigations.map((investigation) => (
        <InvestigationView
          key={investigation.key}
          run={run}
          investigation={investigation}
          isOpenFirst={investigation === opened}
          isLatest={investigation === investigations.findLast((one) => isSameCase(one, investigation))}
        />
      ))}
      {hasNextPage && (
        <Button disabled={isFetchingNextPage} onClick={() => void fetchNextPage()} className="self-start">
          {texts.more}
        </Button>
      )}
    </div>
  );
}

type ViewProps = {
  run: Run;
  investigation: Investigation;
  isOpenFirst: boolean;
  /** No later attempt examined the candidate, so that the run's verdict is from here. */
  isLatest: boolean;
};

function InvestigationView({ run, investigation, isOpenFirst, isLatest }: ViewProps) {
  const [isOpen, setIsOpen] = useState(isOpenFirst);
  const { key, entity, attempt, questions, observations, parts } = investigation;
  const verdict = isLatest ? run.entities.find((one) => isSameCase(one, investigation)) : undefined;
  const submissions = parts.filter(({ kind }) => kind === 'submission');
  return (
    <details
      open={isOpen}
      onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}
      className="min-w-0 rounded-control border bg-surface"
    >
      <summary className="flex flex-wrap items-center gap-x-2.5 px-3 py-2 hover:bg-hover">
        {verdict && <SeverityMark severity={verdict.severity} />}
        <span className="min-w-0 font-mono text-12 wrap-anywhere">{entity}</span>
        {attempt > 1 && <span className="text-12 text-muted">{texts.attempt(attempt)}</span>}
        <span className="ml-auto shrink-0 text-12 text-muted">{texts.count(parts.length)}</span>
      </summary>
      {isOpen && (
        <div className="flex flex-col gap-6 border-t p-4">
          {questions.length > 0 && (
            <Section title={texts.questions} count={questions.length}>
              <Questions questions={questions} scope={key} />
            </Section>
          )}
          <Section title={texts.found}>
            <ol className="flex flex-col">
              {parts.map((part) => (
                <PartView
                  key={part.step.n}
                  part={part}
                  scope={key}
                  isSentBack={part.kind === 'submission' && part !== submissions.at(-1)}
                />
              ))}
            </ol>
          </Section>
          {parts.some(({ kind }) => kind !== 'grades') && (
            <Section title={texts.follows}>
              {verdict ? (
                <VerdictView
                  verdict={verdict}
                  titles={isResponse(run) ? agents.verdicts : undefined}
                  renderSource={(claim) => (
                    <ClaimSource claim={claim} evidence={verdict.evidence} observations={observations} />
                  )}
                />
              ) : (
                <p className="text-muted">{texts.noVerdict}</p>
              )}
            </Section>
          )}
        </div>
      )}
    </details>
  );
}

/** The questions of the plan. An answered one leads to the observation that answered it. */
function Questions({ questions, scope }: { questions: readonly Question[]; scope: string }) {
  return (
    <ol className="flex list-decimal flex-col gap-1.5 pl-5">
      {questions.map(({ question, data, observation }, index) => (
        <li key={index} className="max-w-[84ch] wrap-anywhere marker:text-muted">
          {question}
          <span className="block text-12 text-muted">
            {data !== '' && `${data} · `}
            {observation === null ? (
              texts.open
            ) : (
              <button
                type="button"
                title={texts.goTo(observation)}
                onClick={() => goToObservation(scope, observation)}
                className="text-accent underline-offset-2 hover:underline"
              >
                {texts.answeredBy(observation)}
              </button>
            )}
          </span>
        </li>
      ))}
    </ol>
  );
}
