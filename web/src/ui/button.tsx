import { Button as BaseButton } from '@base-ui/react/button';
import type { ComponentProps } from 'react';
import { classes } from '../lib/text.ts';

type Kind = 'primary' | 'secondary' | 'quiet' | 'danger';

const shared =
  'inline-flex h-7 shrink-0 items-center justify-center gap-1.5 rounded-control px-2.5 text-13 whitespace-nowrap transition-colors data-disabled:opacity-50';
const kinds: Record<Kind, string> = {
  primary: 'bg-accent font-strong text-on-accent not-data-disabled:hover:opacity-90',
  secondary: 'border border-line bg-surface not-data-disabled:hover:bg-hover',
  quiet: 'text-muted not-data-disabled:hover:bg-hover not-data-disabled:hover:text-ink',
  danger: 'border border-line bg-surface text-bad not-data-disabled:hover:bg-hover',
};

type Props = Omit<ComponentProps<typeof BaseButton>, 'className'> & { kind?: Kind; className?: string };

export function Button({ kind = 'secondary', className, ...props }: Props) {
  return <BaseButton {...props} className={classes(shared, kinds[kind], className)} />;
}

/** A square button that shows only an icon. `label` is its accessible name and its tooltip. */
export function IconButton({ label, className, ...props }: Props & { label: string }) {
  return (
    <BaseButton
      {...props}
      aria-label={label}
      title={label}
      className={classes(
        'inline-flex size-7 shrink-0 items-center justify-center rounded-control text-muted hover:bg-hover hover:text-ink',
        className,
      )}
    />
  );
}
