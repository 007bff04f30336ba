import { ChevronRight, CircleCheck, CircleX, MessageCircle, TextQuote } from 'lucide-react';
import { useId, useState } from 'react';
import type { Claim } from '../../api/hits.ts';
import { classes } from '../../lib/text.ts';
import { texts } from '../../texts/evidence.ts';

const marks: Record<Claim['status'], React.ReactNode> = {
  supported: <CircleCheck className="size-4 text-good" aria-hidden />,
  cited: <TextQuote className="size-4 text-muted" aria-hidden />,
  unproven: <CircleX className="size-4 text-bad" aria-hidden />,
  assessment: <MessageCircle className="size-4 text-faint" aria-hidden />,
};

type Props = { claims: readonly Claim[]; renderSource?: (claim: Claim) => React.ReactNode };

/** The sentences of a verdict, each with how far it is proven. With `renderSource`, selecting one shows what it cites. */
export function ClaimList({ claims, renderSource }: Props) {
  const [selected, setSelected] = useState<number>();
  return (
    <ol className="-mx-2 flex max-w-[84ch] flex-col">
      {claims.map((claim, index) => (
        <li key={index}>
          {renderSource && claim.cites.length > 0 ? (
            <SelectableClaim
              claim={claim}
              isSelected={selected === index}
              onSelect={() => setSelected(selected === index ? undefined : index)}
            >
              {renderSource(claim)}
            </SelectableClaim>
          ) : (
            <div className="flex gap-2.5 px-2 py-1">
              <Sentence claim={claim} />
            </div>
          )}
        </li>
      ))}
    </ol>
  );
}

type SelectableProps = { claim: Claim; isSelected: boolean; onSelect: () => void; children: React.ReactNode };

function SelectableClaim({ claim, isSelected, onSelect, children }: SelectableProps) {
  const source = useId();
  return (
    <>
      <button
        type="button"
        aria-expanded={isSelected}
        aria-controls={isSelected ? source : undefined}
        onClick={onSelect}
        className={classes(
          'group flex w-full gap-2.5 rounded-control px-2 py-1 text-left -outline-offset-2 select-text',
          isSelected ? 'bg-selected' : 'hover:bg-hover',
        )}
      >
        <Sentence claim={claim} />
        <ChevronRight
          className="mt-0.5 ml-auto size-4 shrink-0 text-faint transition-transform group-aria-expanded:rotate-90"
          aria-hidden
        />
      </button>
      {isSelected && (
        <div id={source} className="flex flex-col gap-4 py-3 pr-2 pl-8.5 max-md:pl-2">
          {children}
        </div>
      )}
    </>
  );
}

function Sentence({ claim: { text, status, reason } }: { claim: Claim }) {
  return (
    <>
      <span className="mt-0.5 shrink-0">{marks[status]}</span>
      <span className="min-w-0">
        <span className={classes('block wrap-anywhere', status === 'assessment' && 'text-muted')}>
          {status === 'unproven' ? <del className="text-muted">{text}</del> : text}
        </span>
        <span className="block text-12 wrap-anywhere text-muted">
          {texts.status[status]}
          {reason && `: ${reason}`}
        </span>
      </span>
    </>
  );
}
