import { classes } from '../../lib/text.ts';

type Props<Value extends string> = {
  label: string;
  options: Readonly<Record<Value, string>>;
  value: string;
  onChange: (value: Value) => void;
};

/** A few choices side by side, of which one is chosen. `options` are the labels by value. */
export function SegmentedControl<Value extends string>({ label, options, value, onChange }: Props<Value>) {
  return (
    <div role="group" aria-label={label} className="flex rounded-control border p-px">
      {(Object.entries(options) as [Value, string][]).map(([option, text]) => (
        <button
          key={option}
          type="button"
          aria-pressed={option === value}
          onClick={() => onChange(option)}
          className={classes(
            'h-6 rounded-small px-2 text-12',
            option === value ? 'bg-selected font-strong' : 'text-muted hover:text-ink',
          )}
        >
          {text}
        </button>
      ))}
    </div>
  );
}
