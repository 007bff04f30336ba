import { formatNumber } from '../../lib/text.ts';

export type Baseline = { value: number; median: number; deviation: number };

/** Reads the baseline from a hit's facts, or null if it has none. */
export function readBaseline(facts: Record<string, unknown>): Baseline | null {
  const { count, median, z } = facts;
  if (typeof count !== 'number' || typeof median !== 'number' || typeof z !== 'number' || z <= 0) return null;
  return { value: count, median, deviation: (count - median) / z };
}

const width = 320;
const middle = 24;

/** The past as a band of median and usual deviation, and this window as a dot, on one axis that starts at zero. */
export function BaselineChart({ baseline }: { baseline: Baseline }) {
  const { value, median, deviation } = baseline;
  const max = Math.max(value, median + 2 * deviation) * 1.06 || 1;
  const x = (n: number): number => 4 + (Math.max(0, n) / max) * (width - 8);
  const from = x(median - deviation);
  const summary = `This window: ${formatNumber(value)}. Usual: ${formatNumber(median)}, give or take ${formatNumber(Math.round(deviation * 10) / 10)}.`;
  return (
    <figure className="max-w-sm">
      <svg viewBox={`0 0 ${width} 48`} className="w-full" role="img" aria-label={summary}>
        <line x1="4" x2={width - 4} y1={middle} y2={middle} className="stroke-line" strokeWidth="1" />
        <rect
          x={from}
          width={Math.max(6, x(median + deviation) - from)}
          y={middle - 7}
          height="14"
          rx="3"
          className="fill-hover stroke-line-strong"
        />
        <line
          x1={x(median)}
          x2={x(median)}
          y1={middle - 7}
          y2={middle + 7}
          className="stroke-muted"
          strokeWidth="1.5"
        />
        <circle cx={x(value)} cy={middle} r="5" className="fill-accent" />
      </svg>
      <figcaption className="text-12 text-muted">{summary}</figcaption>
    </figure>
  );
}
