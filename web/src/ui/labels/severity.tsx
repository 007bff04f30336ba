import type { Schemas } from '../../api/client.ts';
import { classes } from '../../lib/text.ts';

export type Severity = Schemas['Hit']['severity'];
export const severities: readonly Severity[] = ['critical', 'high', 'medium', 'low', 'none'];

const colors: Record<Severity, string> = {
  critical: 'text-critical',
  high: 'text-high',
  medium: 'text-medium',
  low: 'text-low',
  none: 'text-none',
};

/** Each level has a shape of its own, so that color is never the only difference. */
const shapes: Record<Severity, React.ReactNode> = {
  critical: <path d="M6 .8 11.2 6 6 11.2.8 6Z" fill="currentColor" />,
  high: <path d="M6 1.2 11.2 10.6H.8Z" fill="currentColor" strokeLinejoin="round" />,
  medium: <circle cx="6" cy="6" r="4.4" fill="currentColor" />,
  low: <circle cx="6" cy="6" r="3.7" fill="none" stroke="currentColor" strokeWidth="1.6" />,
  none: <path d="M2.5 6h7" stroke="currentColor" strokeWidth="1.6" strokeLinecap="round" />,
};

export function SeverityMark({ severity }: { severity: Severity }) {
  return (
    <svg viewBox="0 0 12 12" className={classes('size-3 shrink-0', colors[severity])} role="img" aria-label={severity}>
      {shapes[severity]}
    </svg>
  );
}

export function SeverityLabel({ severity }: { severity: Severity }) {
  return (
    <span className={classes('inline-flex items-center gap-1.5 align-top capitalize', colors[severity])}>
      <span aria-hidden className="contents">
        <SeverityMark severity={severity} />
      </span>
      {severity}
    </span>
  );
}
