import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { saveTests, testsQuery } from '../../api/detection-parts.ts';
import { caseQuery, type CaseDetail } from '../../api/review.ts';
import { texts } from '../../texts/review.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { ClaimSource } from '../../ui/evidence/claim-source.tsx';
import { EvidenceTable } from '../../ui/evidence/evidence-table.tsx';
import { Fact, FactList } from '../../ui/evidence/fact-list.tsx';
import { Statement } from '../../ui/evidence/verdict-view.tsx';
import { useChange } from '../../ui/forms/use-change.ts';
import { SeverityLabel } from '../../ui/labels/severity.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Section } from '../../ui/section.tsx';
import { ErrorState, Skeleton } from '../../ui/states.tsx';
import { RelativeTime, TimeRange } from '../../ui/time.tsx';
import { Value } from '../../ui/value.tsx';

/** Everything about a case: the open question, the sentences of the judge with what they cite, and how it was decided. */
export function CaseView({ id }: { id: string }) {
  const { data: one, error, refetch } = useQuery(caseQuery(id));
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!one) return <Skeleton className="m-4 h-40" />;
  return (
    <article className="flex flex-col gap-6 px-4 py-5">
      <header className="flex flex-col gap-2">
        <h2 className="text-15 font-strong text-balance">{one.headline}</h2>
        <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-12 text-muted">
          <SeverityLabel severity={one.severity} />
          <span>{texts.kinds[one.kind]}</span>
          {one.state === 'open' && (
            <span>
              {one.kind === 'audit' ? texts.leavesAudit : texts.becomesHit} <RelativeTime time={one.expiresAt} />
            </span>
          )}
        </div>
      </header>
      {one.state !== 'open' && <Outcome one={one} />}
      {one.state === 'open' && one.kind === 'audit' && (
        <Notice kind="warning" title={texts.audit}>
          <p>{texts.auditBody}</p>
        </Notice>
      )}
      <Section
        title={texts.verdict}
        actions={
          <Link
            to="/runs/$id"
            params={{ id: one.runId }}
            search={{ tab: 'steps', entity: one.entity }}
            className={buttonClass('secondary')}
          >
            {texts.investigation}
          </Link>
        }
      >
        <Statement
          verdict={one}
          renderSource={(claim) => (
            <ClaimSource claim={claim} evidence={one.evidence} observations={one.observations} facts={one.facts} />
          )}
        />
        {one.second && (
          <p className="max-w-[72ch] wrap-anywhere text-muted">
            {texts.second(one.second.alias, one.second.verdict, one.second.confidence)} {one.second.summary}
          </p>
        )}
      </Section>
      <Section title={texts.evidence}>
        <EvidenceTable
          rows={one.observations[0]!.rows}
          evidence={one.evidence.filter(({ observation }) => observation === 'rows')}
        />
      </Section>
      {one.nextStep !== one.openQuestion?.trim() && (
        <Section title={texts.next}>
          <p className="max-w-[72ch] break-words">{one.nextStep}</p>
        </Section>
      )}
      <Section title={texts.facts}>
        <Facts one={one} />
      </Section>
    </article>
  );
}

function Outcome({ one }: { one: CaseDetail }) {
  return (
    <Section title={texts.decided(one.state)}>
      {one.reason && <p className="wrap-anywhere">{one.reason}</p>}
      {(one.actor ?? one.keyId) && <p>{texts.by(one.actor ?? one.keyId!)}</p>}
      {one.hitId && (
        <Link to="/hits/$id" params={{ id: one.hitId }} className="underline underline-offset-2">
          {texts.hit}
        </Link>
      )}
      {one.testCase && <AddTest detectionId={one.detectionId} testCase={one.testCase} />}
    </Section>
  );
}

type TestCase = NonNullable<CaseDetail['testCase']>;

/** Adds what the judge missed to the test cases of the detection. */
function AddTest({ detectionId, testCase }: { detectionId: string; testCase: TestCase }) {
  const client = useQueryClient();
  const { data } = useQuery(testsQuery(detectionId));
  const { mutate, isPending } = useChange({
    change: async () => {
      const { tests, localQuery, ...seen } = await client.fetchQuery({ ...testsQuery(detectionId), staleTime: 0 });
      return saveTests(detectionId, seen, { tests: [...tests, testCase], ...(localQuery ? { localQuery } : {}) });
    },
    refresh: [testsQuery(detectionId).queryKey],
    done: () => ({ title: texts.testAdded, description: texts.testHint }),
    failed: texts.testFailed,
  });
  if (!data || data.tests.some(({ name }) => name === testCase.name)) return null;
  return (
    <Button className="self-start" disabled={isPending} onClick={() => mutate(undefined)}>
      {texts.addTest}
    </Button>
  );
}

function Facts({ one }: { one: CaseDetail }) {
  return (
    <FactList facts={one.facts}>
      <Fact name={texts.detection}>
        <Link to="/detections/$id" params={{ id: one.detectionId }} className="underline-offset-2 hover:underline">
          {one.detectionName}
        </Link>
      </Fact>
      <Fact name={texts.entity}>
        <span className="font-mono text-12 break-all">
          <Value value={one.entity} at={one.windowTo} />
        </span>
      </Fact>
      <Fact name={texts.window}>
        <TimeRange from={one.windowFrom} to={one.windowTo} />
      </Fact>
    </FactList>
  );
}
