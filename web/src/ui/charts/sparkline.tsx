type Props = { values: readonly number[]; label: string };

const width = 96;
const height = 20;

/** Daily figures as small bars, oldest first. Days without anything keep a mark, so that the scale of time stays visible. */
export function Sparkline({ values, label }: Props) {
  const max = Math.max(1, ...values);
  const step = width / Math.max(1, values.length);
  // Two paths for all days: a table draws hundreds of these while it scrolls.
  const bar = (day: number, size: number): string =>
    `M${(day * step + 0.4).toFixed(1)} ${height}v${-size.toFixed(1)}h${(step - 0.8).toFixed(1)}v${size.toFixed(1)}z`;
  const quiet = values.map((value, day) => (value === 0 ? bar(day, 1) : '')).join('');
  const active = values.map((value, day) => (value === 0 ? '' : bar(day, 2 + (value / max) * (height - 4)))).join('');
  return (
    <svg viewBox={`0 0 ${width} ${height}`} className="block h-5 w-24 shrink-0" role="img" aria-label={label}>
      <path d={quiet} className="fill-line" />
      <path d={active} className="fill-accent" />
    </svg>
  );
}
