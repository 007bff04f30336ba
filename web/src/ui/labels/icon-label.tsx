import type { LucideIcon } from 'lucide-react';
import { classes } from '../../lib/text.ts';

/** How a state looks. */
export type Look = { icon: LucideIcon; color: string };

type Props = { look: Look; title?: string; className?: string | false; children: React.ReactNode };

/** A state: its icon in its color, and its name. */
export function IconLabel({ look: { icon: Icon, color }, title, className = false, children }: Props) {
  return (
    <span className={classes('inline-flex items-center gap-1.5 align-top', className)} title={title}>
      <Icon className={classes('size-3.5 shrink-0', color)} aria-hidden />
      {children}
    </span>
  );
}
