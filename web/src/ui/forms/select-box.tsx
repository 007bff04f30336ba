import { Check } from 'lucide-react';
import { classes } from '../../lib/text.ts';

type Props = { label: string; isChecked: boolean; onToggle: () => void };

/** A check box of a row. A click on it does not open the row. */
export function SelectBox({ label, isChecked, onToggle }: Props) {
  return (
    <button
      type="button"
      role="checkbox"
      aria-checked={isChecked}
      aria-label={label}
      tabIndex={-1}
      onClick={(event) => {
        event.stopPropagation();
        onToggle();
      }}
      className={classes(
        'flex size-3.5 items-center justify-center rounded-small border',
        isChecked ? 'border-accent bg-accent text-on-accent' : 'border-line-strong bg-surface',
      )}
    >
      {isChecked && <Check className="size-3" strokeWidth={3} aria-hidden />}
    </button>
  );
}
