import type { HitStatus } from '../../api/hits.ts';
import { texts } from '../../texts/hits.ts';
import { Button } from '../../ui/button.tsx';
import { ReasonForm } from '../../ui/forms/reason-form.tsx';
import { Key } from '../../ui/key.tsx';
import { statusKeys, StatusLabel } from './statuses.tsx';

type Props = {
  /** What the decision is about. */
  subject: string;
  /** The status that is not offered. */
  current: HitStatus | undefined;
  /** The status that waits for its reason, chosen here or with a key. */
  pending: HitStatus | null;
  onChoose: (status: HitStatus | null) => void;
  /** Returns whether it was saved. */
  onSave: (status: HitStatus, reason: string) => Promise<boolean>;
};

/** The decisions about one or more hits. Choosing one asks for a reason, which may stay empty. */
export function StatusBar({ subject, current, pending, onChoose, onSave }: Props) {
  if (pending)
    return (
      <ReasonForm
        subject={subject}
        placeholder={texts.reason}
        onCancel={() => onChoose(null)}
        onSave={(reason) => onSave(pending, reason)}
      >
        <StatusLabel status={pending} />
      </ReasonForm>
    );
  return (
    <div className="flex flex-wrap gap-1" role="group" aria-label={texts.filters.status}>
      {statusKeys.map((status, index) =>
        status === current ? null : (
          <Button
            key={status}
            className="px-2 max-md:px-1.5 max-md:text-12 @max-[33rem]:gap-1 @max-[33rem]:px-1.5 @max-[33rem]:text-12"
            onClick={() => onChoose(status)}
            aria-keyshortcuts={String(index + 1)}
          >
            {texts.actions[status].replace(/^Mark (.)/, (_, first: string) => first.toUpperCase())}
            <span className="max-md:hidden">
              <Key>{index + 1}</Key>
            </span>
          </Button>
        ),
      )}
    </div>
  );
}
