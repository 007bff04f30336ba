import { useState } from 'react';
import { decideCase, type ReviewCase } from '../../api/review.ts';
import { texts } from '../../texts/review.ts';
import { Button } from '../../ui/button.tsx';
import { ReasonForm } from '../../ui/forms/reason-form.tsx';
import { useChange } from '../../ui/forms/use-change.ts';

const decisions = ['raise', 'dismiss'] as const;
type Decision = (typeof decisions)[number];

/** The two decisions about an open case. Each asks for a reason. */
export function DecisionBar({ one }: { one: Pick<ReviewCase, 'id'> }) {
  const [decision, setDecision] = useState<Decision | null>(null);
  if (decision) return <DecisionForm id={one.id} decision={decision} onClose={() => setDecision(null)} />;
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

type FormProps = { id: string; decision: Decision; onClose: () => void };

function DecisionForm({ id, decision, onClose }: FormProps) {
  const { mutate, isPending } = useChange({
    change: (reason: string) => decideCase(id, { decision, reason }),
    refresh: [['review'], ['hits', 'list'], ['overview']],
    done: ({ state }) => (state === 'raised' ? texts.raised : texts.dismissed),
    failed: texts.failed,
  });
  return (
    <div className="grow">
      <ReasonForm
        placeholder={texts.reason}
        action={texts[decision]}
        isRequired
        isPending={isPending}
        onSave={(reason) => mutate(reason, { onSuccess: onClose })}
        onCancel={onClose}
      />
    </div>
  );
}
