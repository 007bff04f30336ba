import { ChevronDown } from 'lucide-react';
import { MenuButton } from '../../ui/overlays/menu-button.tsx';

type Props<Value extends string> = {
  label: string;
  value: Value;
  options: readonly { value: Value; label: React.ReactNode }[];
  onChange: (value: Value) => void;
};

/** A choice that always has a value. */
export function Picker<Value extends string>({ label, value, options, onChange }: Props<Value>) {
  return (
    <MenuButton
      entries={[{ kind: 'choice', label, value, options, onSelect: (next) => onChange(next as Value) }]}
      className="inline-flex h-7 min-w-0 items-center gap-1.5 rounded-control border bg-surface px-2 hover:bg-hover"
    >
      <span className="text-muted">{label}</span>
      <span className="truncate">{options.find((option) => option.value === value)?.label}</span>
      <ChevronDown className="size-3.5 shrink-0 text-faint" aria-hidden />
    </MenuButton>
  );
}
