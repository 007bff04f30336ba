import { X } from 'lucide-react';
import { texts } from '../../texts/common.ts';

type Props = { label: string; value: string; onRemove: () => void };

/** A filter that another page or a link set, with a way to remove it. */
export function FilterChip({ label, value, onRemove }: Props) {
  return (
    <span className="inline-flex h-7 max-w-72 items-center gap-1.5 rounded-control border bg-surface pl-2">
      <span className="text-muted">{label}</span>
      <span className="truncate">{value}</span>
      <button
        type="button"
        aria-label={texts.removeFilter(label)}
        onClick={onRemove}
        className="flex h-full min-w-6 items-center justify-center pr-1 text-faint hover:text-ink"
      >
        <X className="size-3.5" aria-hidden />
      </button>
    </span>
  );
}
