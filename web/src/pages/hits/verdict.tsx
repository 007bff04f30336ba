import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { hitEvidenceQuery, type Claim, type Hit, type HitDetail } from '../../api/hits.ts';
import { texts } from '../../texts/hits.ts';
import { buttonClass } from '../../ui/button.tsx';
import { ClaimSource } from '../../ui/evidence/claim-source.tsx';
import { Statement } from '../../ui/evidence/verdict-view.tsx';
import { Section } from '../../ui/section.tsx';
import { ErrorState, Skeleton } from '../../ui/states.tsx';

type Props = { hit: Hit; details: HitDetail | undefined };

/** What the judge says of a hit. Each sentence leads to the cells that it cites and to the query that found them. */
export function Verdict({ hit, details }: Props) {
  const run = details?.occurrences.at(-1)?.runId;
  return (
    <Section
      title={texts.verdict}
      actions={
        run !== undefined &&
        isInvestigated(hit) && (
          <Link
            to="/runs/$id"
            params={{ id: run }}
            search={{ tab: 'steps', entity: hit.entity }}
            className={buttonClass('secondary')}
          >
            {texts.investigation}
          </Link>
        )
      }
    >
      {!hit.judged && (
        <p>
          {texts.unjudged}{' '}
          {hit.unjudgedReason && <span className="text-muted">({hit.unjudgedReason.replaceAll('_', ' ')})</span>}
        </p>
      )}
      <Statement verdict={hit} renderSource={(claim) => <Source hit={hit} facts={details?.facts} claim={claim} />} />
      {hit.modelDisagrees && (
        <p className="max-w-[72ch] wrap-anywhere text-muted">
          {texts.disagrees} {hit.modelDisagrees}
        </p>
      )}
    </Section>
  );
}

/** Whether a model judged it, whose steps can be read. The built-in analyst has none. */
const isInvestigated = ({ claims }: Hit): boolean =>
  claims.some(
    ({ status, cites }) =>
      status === 'supported' ||
      status === 'unproven' ||
      cites.some(({ observation = 'rows' }) => observation !== 'rows'),
  );

function Source({ hit, facts = {}, claim }: { hit: Hit; facts: HitDetail['facts'] | undefined; claim: Claim }) {
  const { data, error, refetch } = useQuery(hitEvidenceQuery(hit.id));
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton className="h-24" />;
  return <ClaimSource claim={claim} evidence={hit.evidence} observations={data.observations} facts={facts} />;
}
