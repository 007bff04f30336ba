import { classes } from '../lib/text.ts';

export function Logo({ className }: { className: string }) {
  return (
    <svg viewBox="0 0 32 32" className={classes('text-accent', className)} aria-hidden>
      <path d="M16 3 29 16 16 29 3 16Z" fill="none" stroke="currentColor" strokeWidth="3.5" strokeLinejoin="round" />
      <path d="m16 11 5 5-5 5-5-5Z" fill="currentColor" />
    </svg>
  );
}
