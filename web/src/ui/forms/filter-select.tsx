import { ChevronDown, X } from 'lucide-react';
import { classes } from '../../lib/text.ts';
import { texts } from '../../texts/common.ts';
import { MenuButton } from '../overlays/menu-button.tsx';

type Option<Value extends string> = {
  value: Value;
  label: React.ReactNode;
  count?: string | undefined;
  /** The heading above it and the options that share it. */
  group?: string;
};
type Props<Value extends string> = {
  label: string;
  value: Value | undefined;
  options: readonly Option<Value>[];
  onChange: (value: Value | undefined) => void;
};

/** A filter of a list. Without a value it shows its name; with one it shows the value and a way to remove it. */
export function FilterSelect<Value extends string>({ label, value, options, onChange }: Props<Value>) {
  const selected = options.find((option) => option.value === value);
  return (
    <span
      className={classes(
        'inline-flex h-7 items-center rounded-control border text-13',
        selected ? 'bg-surface' : 'border-dashed text-muted hover:text-ink',
      )}
    >
      <MenuButton
        entries={[...Map.groupBy(options, ({ group }) => group)].map(([group, grouped]) => ({
          kind: 'choice',
          ...(group !== undefined && { label: group }),
          value,
          options: grouped,
          onSelect: (next) => onChange(next as Value),
        }))}
        className="flex h-full items-center gap-1.5 rounded-control px-2"
      >
        <span className={classes(selected && 'text-muted')}>{label}</span>
        {selected ? selected.label : <ChevronDown className="size-3.5 text-faint" aria-hidden />}
      </MenuButton>
      {selected && (
        <button
          type="button"
          aria-label={texts.removeFilter(label)}
          onClick={() => onChange(undefined)}
          className="flex h-full min-w-6 items-center justify-center rounded-r-control pr-1 text-faint hover:text-ink"
        >
          <X className="size-3.5" aria-hidden />
        </button>
      )}
    </span>
  );
}
