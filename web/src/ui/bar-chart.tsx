import { formatNumber } from '../lib/text.ts';

export type Bar = { label: string; value: number; note?: string };
type Props = { title: string; bars: readonly Bar[]; second?: { label: string; values: readonly number[] } };

const height = 88;

/** Figures per day as bars, with a line for the largest one. `second` compares each with another figure. The table says the same in text. */
export function BarChart({ title, bars, second }: Props) {
  const max = Math.max(1, ...bars.map(({ value }) => value), ...(second?.values ?? []));
  const step = 100 / Math.max(1, bars.length);
  const heightOf = (value: number): number => (value === 0 ? 1 : 2 + (value / max) * (height - 4));
  return (
    <figure className="flex flex-col gap-1">
      <div className="relative">
        <span className="tabular absolute top-0 left-0 text-12 text-faint">{formatNumber(max)}</span>
        <svg
          viewBox={`0 0 100 ${height}`}
          preserveAspectRatio="none"
          className="block h-24 w-full border-b"
          aria-hidden
        >
          <line
            x1="0"
            x2="100"
            y1="1"
            y2="1"
            className="stroke-line"
            vectorEffect="non-scaling-stroke"
            strokeDasharray="2 3"
          />
          {bars.map(({ label, value, note }, index) => {
            const other = second?.values[index];
            const width = other === undefined ? step * 0.72 : step * 0.36;
            return (
              <g key={label}>
                <title>{`${label}: ${note ?? formatNumber(value)}`}</title>
                <rect x={index * step} width={step} y={0} height={height} className="fill-transparent" />
                <rect
                  x={index * step + step * 0.14}
                  width={width}
                  y={height - heightOf(value)}
                  height={heightOf(value)}
                  className={value === 0 ? 'fill-line' : 'fill-accent'}
                />
                {other !== undefined && (
                  <rect
                    x={index * step + step * 0.5}
                    width={width}
                    y={height - heightOf(other)}
                    height={heightOf(other)}
                    className={other === 0 ? 'fill-line' : 'fill-high'}
                  />
                )}
              </g>
            );
          })}
        </svg>
      </div>
      <div className="tabular flex justify-between text-12 text-faint" aria-hidden>
        <span>{bars[0]?.label}</span>
        <span>{bars.at(-1)?.label}</span>
      </div>
      <table className="sr-only">
        <caption>{title}</caption>
        <tbody>
          {bars.map(({ label, value, note }, index) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td>{note ?? value}</td>
              {second && <td>{second.values[index]}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
