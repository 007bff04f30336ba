import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { dismissalsQuery } from '../../../api/detection-parts.ts';
import { texts } from '../../../texts/review.ts';
import { Section } from '../../../ui/section.tsx';

/** How many dismissals of a detection were wrong at most, by the audit. Nothing without dismissals. */
export function DismissalAudit({ id }: { id: string }) {
  const { data } = useQuery(dismissalsQuery(id));
  if (!data || data.dismissals + data.sampled === 0) return null;
  const { statement, dismissals, sampled, open, days, verifiedBy } = data;
  return (
    <Section
      level={2}
      title={texts.dismissals.title}
      actions={
        open > 0 && (
          <Link to="/review" search={{ kind: 'audit', detection: id }} className="text-12 text-muted hover:text-ink">
            {texts.dismissals.waiting(open)}
          </Link>
        )
      }
    >
      <p>{statement}</p>
      <p className="max-w-[72ch] text-muted">
        {texts.dismissals.sample(dismissals, sampled, days)}{' '}
        {verifiedBy === null ? texts.dismissals.byPeople : texts.dismissals.byAlias(verifiedBy)}
      </p>
    </Section>
  );
}
