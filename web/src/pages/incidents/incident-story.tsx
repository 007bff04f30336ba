import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { hitEvidenceQuery, hitQuery, type Claim } from '../../api/hits.ts';
import { incidentFiles, incidentReportQuery, type IncidentDetail, type StorySentence } from '../../api/incidents.ts';
import { texts } from '../../texts/incidents.ts';
import { buttonClass } from '../../ui/button.tsx';
import { ClaimList } from '../../ui/evidence/claim-list.tsx';
import { ClaimSource } from '../../ui/evidence/claim-source.tsx';
import { Section } from '../../ui/section.tsx';
import { ErrorState, Skeleton } from '../../ui/states.tsx';
import { ExactTime } from '../../ui/time.tsx';

type ToldClaim = Claim & Pick<StorySentence, 'hitId'>;
const toClaim = (sentence: StorySentence): ToldClaim => ({ ...sentence, kind: 'fact', reason: null });

/** What happened, stage by stage: each hit with the claims of its verdict. Selecting a sentence shows what it cites. */
export function IncidentStory({ incident: { id, stages } }: { incident: IncidentDetail }) {
  const { data: report, error, refetch } = useQuery(incidentReportQuery(id));
  if (error && !report) return <ErrorState error={error} onRetry={() => void refetch()} />;
  return (
    <Section title={texts.story} actions={<Files id={id} />}>
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

function Files({ id }: { id: string }) {
  const files = incidentFiles(id);
  return (['html', 'markdown', 'bundle'] as const).map((file) => (
    <a key={file} href={files[file]} download className={buttonClass('secondary')}>
      {texts.exports[file]}
    </a>
  ));
}

/** Shows the source of a sentence: its hit, or cells of the evidence of that hit. */
function Source({ claim }: { claim: ToldClaim }) {
  const { hitId, cites } = claim;
  const isOfHit = cites.every(({ hit }) => hit === hitId);
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
