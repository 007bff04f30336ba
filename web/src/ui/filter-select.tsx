import { Select } from '@base-ui/react/select';
import { Check, ChevronDown, X } from 'lucide-react';
import { classes } from '../lib/text.ts';

type Option<Value extends string> = { value: Value; label: React.ReactNode };
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
      <Select.Root value={value ?? null} onValueChange={(next) => onChange(next ?? undefined)}>
        <Select.Trigger className="flex h-full items-center gap-1.5 rounded-control px-2" aria-label={label}>
          {selected ? <span className="text-muted">{label}</span> : label}
          {selected ? selected.label : <ChevronDown className="size-3.5 text-faint" aria-hidden />}
        </Select.Trigger>
        <Select.Portal>
          <Select.Positioner alignItemWithTrigger={false} sideOffset={4}>
            <Select.Popup className="max-h-80 min-w-44 overflow-y-auto rounded-control bg-raised p-1 shadow-float">
              {options.map((option) => (
                <Select.Item
                  key={option.value}
                  value={option.value}
                  className="flex h-7 items-center justify-between gap-4 rounded-small px-2 outline-none data-highlighted:bg-hover"
                >
                  <Select.ItemText>{option.label}</Select.ItemText>
                  <Select.ItemIndicator>
                    <Check className="size-3.5 text-accent" aria-hidden />
                  </Select.ItemIndicator>
                </Select.Item>
              ))}
            </Select.Popup>
          </Select.Positioner>
        </Select.Portal>
      </Select.Root>
      {selected && (
        <button
          aria-label={`Remove the filter ${label}`}
          onClick={() => onChange(undefined)}
          className="flex h-full items-center rounded-r-control pr-1.5 text-faint hover:text-ink"
        >
          <X className="size-3.5" aria-hidden />
        </button>
      )}
    </span>
  );
}
