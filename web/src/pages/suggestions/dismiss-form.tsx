import { useState } from 'react';
import type { DismissReason } from '../../api/suggestions.ts';
import { useFocusReturn } from '../../lib/focus-return.ts';
import { texts as common } from '../../texts/common.ts';
import { texts } from '../../texts/suggestions.ts';
import { Button } from '../../ui/button.tsx';

type Props = { isBusy: boolean; onCancel: () => void; onDismiss: (reason: DismissReason, note: string) => void };

const control = 'h-7 min-w-24 rounded-control border border-line-strong bg-surface px-2';

/** Asks why. The reason keeps similar suggestions away. */
export function DismissForm({ isBusy, onCancel, onDismiss }: Props) {
  const [reason, setReason] = useState<DismissReason>('not_relevant');
  useFocusReturn();
  const [note, setNote] = useState('');
  return (
    <form
      className="flex min-w-0 grow flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        onDismiss(reason, note.trim());
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onCancel();
      }}
    >
      <select
        autoFocus
        aria-label={texts.reason}
        value={reason}
        onChange={(event) => setReason(event.target.value as DismissReason)}
        className={`${control} shrink`}
      >
        {Object.entries(texts.reasons).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <input
        aria-label={texts.note}
        placeholder={texts.note}
        value={note}
        maxLength={1000}
        onChange={(event) => setNote(event.target.value)}
        className={`${control} min-w-40 grow placeholder:text-faint`}
      />
      <Button kind="primary" type="submit" disabled={isBusy}>
        {texts.dismiss}
      </Button>
      <Button kind="quiet" onClick={onCancel}>
        {common.cancel}
      </Button>
    </form>
  );
}
