import type { ComponentProps } from 'react';
import { classes } from '../lib/text.ts';

type Kind = 'primary' | 'secondary' | 'quiet' | 'danger';

const shared =
  'inline-flex h-7 shrink-0 items-center justify-center gap-1.5 rounded-control px-2.5 text-13 whitespace-nowrap transition-colors disabled:opacity-50';
const kinds: Record<Kind, string> = {
  primary: 'bg-accent font-strong text-on-accent not-disabled:hover:bg-accent-hover',
  secondary: 'border border-line bg-surface not-disabled:hover:bg-hover',
  quiet: 'text-muted not-disabled:hover:bg-hover not-disabled:hover:text-ink',
  danger: 'border border-line bg-surface text-bad not-disabled:hover:bg-hover',
};

/** Returns the classes of a button, for links to pages of the console. */
export const buttonClass = (kind: Kind): string => classes(shared, kinds[kind]);

type Props = Omit<ComponentProps<'button'>, 'className'> & { kind?: Kind; className?: string };

export function Button({ kind = 'secondary', className, ...props }: Props) {
  return <button type="button" {...props} className={classes(shared, kinds[kind], className)} />;
}

type LinkProps = Omit<ComponentProps<'a'>, 'className'> & { kind?: Kind; className?: string };

/** A link to an address outside of the console that looks like a button. */
export function ButtonLink({ kind = 'secondary', className, ...props }: LinkProps) {
  return <a {...props} className={classes(shared, kinds[kind], className)} />;
}

/** A square button that shows only an icon. `label` is its accessible name and its tooltip. */
export function IconButton({ label, className, ...props }: Props & { label: string }) {
  return (
    <button
      type="button"
      {...props}
      aria-label={label}
      title={label}
      className={classes(
        'inline-flex size-7 shrink-0 items-center justify-center rounded-control text-muted not-disabled:hover:bg-hover not-disabled:hover:text-ink disabled:opacity-50',
        className,
      )}
    />
  );
}
