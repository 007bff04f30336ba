import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { runAgent, shippedAgentsQuery } from '../../api/agents.ts';
import { hitEvidenceQuery, hitQuery, type Claim } from '../../api/hits.ts';
import {
  incidentFiles,
  incidentReportQuery,
  type IncidentDetail,
  type IncidentStory as Story,
  type StorySentence,
} from '../../api/incidents.ts';
import { isUnfinished, runQuery } from '../../api/runs.ts';
import { texts } from '../../texts/incidents.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { ClaimList } from '../../ui/evidence/claim-list.tsx';
import { ClaimSource } from '../../ui/evidence/claim-source.tsx';
import { useChange } from '../../ui/forms/use-change.ts';
import { Section } from '../../ui/section.tsx';
import { ErrorState, Skeleton } from '../../ui/states.tsx';
import { ExactTime, RelativeTime } from '../../ui/time.tsx';

type ToldClaim = Claim & Pick<StorySentence, 'hitId'>;
const toClaim = (sentence: StorySentence): ToldClaim => ({ ...sentence, kind: 'fact', reason: null });

/** What happened, stage by stage, as an agent wrote it or composed from the verdicts. Selecting a sentence shows what it cites. */
export function IncidentStory({ incident: { id, stages } }: { incident: IncidentDetail }) {
  const { data: report, error, refetch } = useQuery(incidentReportQuery(id));
  if (error && !report) return <ErrorState error={error} onRetry={() => void refetch()} />;
  return (
    <Section title={texts.story} actions={<Files id={id} />}>
      {report && <Author id={id} story={report.story} />}
      {report ? (
        <ol aria-label={texts.story} className="flex flex-col gap-4">
          {report.story.paragraphs.map(({ tactic, name, firstAt, sentences }) => (
            <li key={tactic ?? ''} className="flex flex-col gap-1">
              <div className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5">
                <span className="text-12 text-muted">
                  <ExactTime time={firstAt} />
                </span>
                <h4 className="font-strong">{name}</h4>
                <span className="text-12 text-muted">
                  {stages.find((stage) => stage.tactic === tactic)?.techniques.join(', ')}
                </span>
              </div>
              <ClaimList
                claims={sentences.map(toClaim)}
                renderSource={(claim) => <Source claim={claim as ToldClaim} />}
              />
            </li>
          ))}
        </ol>
      ) : (
        <Skeleton className="h-24" />
      )}
      {report && report.story.unproven > 0 && (
        <p className="text-12 text-muted">{texts.unproven(report.story.unproven)}</p>
      )}
      {report && report.leftOut.hits > 0 && <p className="text-12 text-muted">{texts.notTold(report.leftOut.hits)}</p>}
    </Section>
  );
}

/** Says who wrote the story, and has the button that lets an agent write one. */
function Author({ id, story: { writtenBy } }: { id: string; story: Story }) {
  const { data: shipped = [] } = useQuery(shippedAgentsQuery);
  const agentId = writtenBy?.agentId ?? shipped.find((agent) => agent.id === 'story')?.added?.agentId;
  const [runId, setRunId] = useState<string>();
  const { mutate, isPending } = useChange({
    change: async () => setRunId((await runAgent(agentId!, { incidentId: id })).runId),
    refresh: [],
    failed: texts.notWritten,
  });
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-12 text-muted">
      <span>{writtenBy ? texts.writtenBy(writtenBy.agentName) : texts.composed}</span>
      {writtenBy && <RelativeTime time={writtenBy.at} />}
      {writtenBy && writtenBy.hitsSince > 0 && <span>{texts.hitsSince(writtenBy.hitsSince)}</span>}
      {writtenBy && (
        <Link to="/runs/$id" params={{ id: writtenBy.runId }} className="text-accent hover:underline">
          {texts.run}
        </Link>
      )}
      {runId !== undefined && <WritingRun key={runId} runId={runId} incidentId={id} />}
      {agentId === undefined ? (
        <Link to="/agents" className="text-accent hover:underline">
          {texts.write}
        </Link>
      ) : (
        <Button disabled={isPending} onClick={() => mutate(undefined)}>
          {writtenBy ? texts.writeAgain : texts.write}
        </Button>
      )}
    </p>
  );
}

/** The run that the user started, until the story is there. */
function WritingRun({ runId, incidentId }: { runId: string; incidentId: string }) {
  const client = useQueryClient();
  const { data: run } = useQuery(runQuery(runId));
  const isEnded = run !== undefined && !isUnfinished(run);
  useEffect(() => {
    if (isEnded) void client.invalidateQueries({ queryKey: incidentReportQuery(incidentId).queryKey });
  }, [client, incidentId, isEnded]);
  if (isEnded && run.status === 'completed') return null;
  return <span role="status">{isEnded ? texts.notWritten : texts.writing}</span>;
}

function Files({ id }: { id: string }) {
  const files = incidentFiles(id);
  return (['html', 'markdown', 'bundle'] as const).map((file) => (
    <a key={file} href={files[file]} download className={buttonClass('secondary')}>
      {texts.exports[file]}
    </a>
  ));
}

/** Shows what a sentence cites, for each hit that has it. */
function Source({ claim }: { claim: ToldClaim }) {
  const byHit = Map.groupBy(claim.cites, ({ hit }) => hit ?? claim.hitId!);
  return [...byHit].map(([hitId, cites]) => <SourceOfHit key={hitId} hitId={hitId} claim={{ ...claim, cites }} />);
}

/** The hit itself, or cells of its evidence. */
function SourceOfHit({ hitId, claim }: { hitId: string; claim: Claim }) {
  const { cites } = claim;
  const isOfHit = cites.every(({ hit, observation }) => hit === hitId && observation === undefined);
  const hit = useQuery({ ...hitQuery(hitId), enabled: !isOfHit });
  const evidence = useQuery({ ...hitEvidenceQuery(hitId), enabled: !isOfHit });
  const error = hit.error ?? evidence.error;
  return (
    <>
      {error ? (
        <ErrorState error={error} onRetry={() => void Promise.all([hit.refetch(), evidence.refetch()])} />
      ) : isOfHit ? null : hit.data && evidence.data ? (
        <ClaimSource
          claim={claim}
          evidence={hit.data.evidence}
          observations={evidence.data.observations}
          facts={hit.data.facts}
        />
      ) : (
        <Skeleton className="h-24" />
      )}
      <Link to="/hits/$id" params={{ id: hitId }} className="text-12 text-accent hover:underline">
        {texts.openHit}
      </Link>
    </>
  );
}
