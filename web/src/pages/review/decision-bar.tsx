import { useState } from 'react';
import { decideCase, type ReviewCase } from '../../api/review.ts';
import { useFocusReturn } from '../../lib/focus-return.ts';
import { texts } from '../../texts/review.ts';
import { Button } from '../../ui/button.tsx';
import { useChange } from '../../ui/forms/use-change.ts';

const decisions = ['raise', 'dismiss'] as const;
type Decision = (typeof decisions)[number];

/** The two decisions about an open case. Each asks for a reason. */
export function DecisionBar({ one }: { one: Pick<ReviewCase, 'id'> }) {
  const [decision, setDecision] = useState<Decision | null>(null);
  if (decision) return <ReasonForm id={one.id} decision={decision} onClose={() => setDecision(null)} />;
  return (
    <div className="flex flex-wrap gap-1">
      {decisions.map((value) => (
        <Button key={value} onClick={() => setDecision(value)}>
          {texts[value]}
        </Button>
      ))}
    </div>
  );
}

function ReasonForm({ id, decision, onClose }: { id: string; decision: Decision; onClose: () => void }) {
  useFocusReturn();
  const [reason, setReason] = useState('');
  const { mutate, isPending } = useChange({
    change: () => decideCase(id, { decision, reason: reason.trim() }),
    refresh: [['review'], ['hits', 'list'], ['overview']],
    done: ({ state }) => (state === 'raised' ? texts.raised : texts.dismissed),
    failed: texts.failed,
  });
  return (
    <form
      className="flex grow flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        mutate(undefined, { onSuccess: onClose });
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onClose();
      }}
    >
      <input
        autoFocus
        required
        value={reason}
        onChange={(event) => setReason(event.target.value)}
        placeholder={texts.reason}
        aria-label={texts.reason}
        maxLength={2000}
        className="h-7 min-w-40 grow rounded-control border bg-surface px-2 placeholder:text-faint"
      />
      <Button kind="primary" type="submit" disabled={isPending || reason.trim() === ''}>
        {texts[decision]}
      </Button>
      <Button kind="quiet" onClick={onClose}>
        {texts.cancel}
      </Button>
    </form>
  );
}
