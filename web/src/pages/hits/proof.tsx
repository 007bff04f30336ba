import { CircleCheck } from 'lucide-react';
import type { HitDetail } from '../../api/hits.ts';
import { texts } from '../../texts/hits.ts';
import { Section } from '../../ui/section.tsx';

/** How the claims of the verdict stood up against the rows, with those that were removed. */
export function Proof({ hit: { evidence, struck, unjudgedReason, judged } }: { hit: HitDetail }) {
  return (
    <Section title={texts.why}>
      {judged ? (
        <p className="flex items-center gap-2">
          <CircleCheck className="size-4 text-good" aria-hidden />
          {texts.citations(evidence.length)}
        </p>
      ) : (
        <p>
          {texts.unjudged}{' '}
          {unjudgedReason && <span className="text-muted">({unjudgedReason.replaceAll('_', ' ')})</span>}
        </p>
      )}
      {struck.length > 0 && (
        <ul className="flex flex-col gap-1.5">
          {struck.map(({ where, text, reason }) => (
            <li key={`${where} ${text}`} className="max-w-[72ch] border-l-2 border-line-strong pl-3 break-words">
              <del className="text-muted">{text}</del>
              <span className="block text-12 text-muted">
                {texts.struckFrom(where)} {reason}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
