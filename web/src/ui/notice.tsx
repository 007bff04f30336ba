import { CircleAlert, TriangleAlert } from 'lucide-react';
import { classes } from '../lib/text.ts';

type Props = { kind: 'error' | 'warning'; title: string; children?: React.ReactNode };

/** Something that needs attention, where it matters. */
export function Notice({ kind, title, children }: Props) {
  const Icon = kind === 'error' ? CircleAlert : TriangleAlert;
  return (
    <div className="flex gap-2.5 rounded-control border px-3 py-2">
      <Icon className={classes('mt-0.5 size-4 shrink-0', kind === 'error' ? 'text-bad' : 'text-medium')} aria-hidden />
      <div className="min-w-0">
        <p className="font-strong">{title}</p>
        {children && <div className="max-w-[72ch] break-words text-muted">{children}</div>}
      </div>
    </div>
  );
}
