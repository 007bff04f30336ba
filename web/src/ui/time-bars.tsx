import { useRef, useState } from 'react';
import { formatNumber } from '../lib/text.ts';

export type TimeBar = { at: string; value: number; label: string };
type Props = {
  label: string;
  /** What the values count. */
  unit: string;
  bars: readonly TimeBar[];
  /** Called with the first and the last bar of a selection. Without it, nothing can be selected. */
  onSelect?: (first: TimeBar, last: TimeBar) => void;
};

const height = 64;

/** Counts over time as bars. Dragging over them selects a time. A table says the same to screen readers. */
export function TimeBars({ label, unit, bars, onSelect }: Props) {
  const chart = useRef<SVGSVGElement>(null);
  const [hovered, setHovered] = useState<number | null>(null);
  const [dragFrom, setDragFrom] = useState<number | null>(null);
  const max = Math.max(1, ...bars.map(({ value }) => value));
  const total = bars.reduce((sum, { value }) => sum + value, 0);
  const indexAt = ({ clientX }: React.PointerEvent): number => {
    const { left, width } = chart.current!.getBoundingClientRect();
    return Math.min(bars.length - 1, Math.max(0, Math.floor(((clientX - left) / width) * bars.length)));
  };
  const selected =
    dragFrom !== null && hovered !== null ? [Math.min(dragFrom, hovered), Math.max(dragFrom, hovered)] : null;
  const shown = hovered === null ? undefined : bars[hovered];
  return (
    <figure className="min-w-0">
      <figcaption className="tabular flex justify-between gap-3 pb-1 text-12 text-muted" aria-hidden>
        <span className="truncate">{shown ? shown.label : label}</span>
        <span className="whitespace-nowrap">{`${formatNumber(shown ? shown.value : total)} ${unit.toLowerCase()}`}</span>
      </figcaption>
      <svg
        ref={chart}
        viewBox={`0 0 ${bars.length} ${height}`}
        preserveAspectRatio="none"
        aria-hidden
        className={`block h-16 w-full touch-none border-b ${onSelect ? 'cursor-crosshair' : ''}`}
        onPointerMove={(event) => setHovered(indexAt(event))}
        onPointerLeave={() => dragFrom === null && setHovered(null)}
        onPointerDown={(event) => {
          if (!onSelect) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          setDragFrom(indexAt(event));
        }}
        onPointerUp={(event) => {
          if (dragFrom === null) return;
          const [first, last] = [dragFrom, indexAt(event)].toSorted((a, b) => a - b);
          setDragFrom(null);
          onSelect?.(bars[first!]!, bars[last!]!);
        }}
      >
        {selected && (
          <rect
            x={selected[0]}
            width={selected[1]! - selected[0]! + 1}
            y="0"
            height={height}
            className="fill-selected"
          />
        )}
        {bars.map(({ at, value }, index) => {
          const size = value === 0 ? 0 : Math.max(1.5, (value / max) * height);
          return (
            <rect
              key={at}
              x={index + 0.1}
              width="0.8"
              y={height - size}
              height={size}
              className={index === hovered ? 'fill-ink' : 'fill-accent'}
            />
          );
        })}
      </svg>
      <div className="tabular flex justify-between pt-1 text-12 text-faint" aria-hidden>
        <span>{bars[0]?.label}</span>
        <span>{bars.at(-1)?.label}</span>
      </div>
      <table className="sr-only">
        <caption>{label}</caption>
        <tbody>
          {bars
            .filter(({ value }) => value > 0)
            .map((bar) => (
              <tr key={bar.at}>
                <th scope="row">{bar.label}</th>
                <td>{`${bar.value} ${unit.toLowerCase()}`}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </figure>
  );
}
