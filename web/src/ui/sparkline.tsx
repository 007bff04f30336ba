type Props = { values: readonly number[]; label: string };

const width = 96;
const height = 20;

/** Daily figures as small bars, oldest first. Days without anything keep a mark, so that the scale of time stays visible. */
export function Sparkline({ values, label }: Props) {
  const max = Math.max(1, ...values);
  const step = width / Math.max(1, values.length);
  return (
    <svg viewBox={`0 0 ${width} ${height}`} className="block h-5 w-24 shrink-0" role="img" aria-label={label}>
      {values.map((value, day) => {
        const size = value === 0 ? 1 : 2 + (value / max) * (height - 4);
        return (
          <rect
            key={day}
            x={(day * step + 0.4).toFixed(2)}
            y={(height - size).toFixed(2)}
            width={(step - 0.8).toFixed(2)}
            height={size.toFixed(2)}
            className={value === 0 ? 'fill-line' : 'fill-accent'}
          />
        );
      })}
    </svg>
  );
}
