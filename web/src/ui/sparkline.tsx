type Props = { values: readonly number[]; label: string };

const width = 96;
const height = 20;

/** A small line of daily figures, oldest first. */
export function Sparkline({ values, label }: Props) {
  const max = Math.max(1, ...values);
  const step = width / Math.max(1, values.length - 1);
  const points = values.map((value, day) => `${(day * step).toFixed(1)},${(height - 2 - (value / max) * (height - 4)).toFixed(1)}`);
  return (
    <svg viewBox={`0 0 ${width} ${height}`} className="h-5 w-24" role="img" aria-label={label}>
      <polyline points={points.join(' ')} fill="none" className="stroke-accent" strokeWidth="1.5" strokeLinejoin="round" />
    </svg>
  );
}
