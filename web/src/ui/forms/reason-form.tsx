import type { ReactNode } from 'react';
import { useFocusReturn } from '../../lib/focus-return.ts';
import { texts } from '../../texts/common.ts';
import { Button } from '../button.tsx';
import { RestoredDraft, useDraft } from './use-draft.tsx';

type Props = {
  /** What the decision is about, such as `hit <id>`. */
  subject: string;
  /** What is decided, shown before the reason. */
  children?: ReactNode;
  placeholder: string;
  /** The label of the button. `Save` if absent. */
  action?: string;
  isRequired?: boolean;
  isPending?: boolean;
  /** Returns false if the decision was not saved. */
  onSave: (reason: string) => Promise<boolean>;
  onCancel: () => void;
};

/** Asks for the reason of a decision, in one line. Escape cancels. */
export function ReasonForm({ subject, children, placeholder, action, isRequired, isPending, onSave, onCancel }: Props) {
  useFocusReturn();
  const [{ reason }, change, draft] = useDraft(`reason ${subject}`, { reason: '' });
  return (
    <form
      className="flex flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        void onSave(reason.trim()).then((isSaved) => isSaved && draft.reset());
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onCancel();
      }}
    >
      {children}
      <input
        autoFocus
        required={isRequired}
        value={reason}
        onChange={(event) => change({ reason: event.target.value })}
        placeholder={placeholder}
        aria-label={placeholder}
        className="h-7 min-w-40 grow rounded-control border bg-surface px-2 placeholder:text-faint"
      />
      <Button kind="primary" type="submit" disabled={isPending || (isRequired && reason.trim() === '')}>
        {action ?? texts.save}
      </Button>
      <Button kind="quiet" onClick={onCancel}>
        {texts.cancel}
      </Button>
      <RestoredDraft draft={draft} />
    </form>
  );
}
