import { useRef, useState } from 'react';

/** A value of null is unknown, which is not the same as none. */
export type Bar = { at: string; value: number | null; label: string; note?: string };
type Props = {
  label: string;
  /** Returns a value in words, with what it counts. */
  say: (value: number) => string;
  bars: readonly Bar[];
  /** Values that each bar is compared with. */
  second?: { label: string; values: readonly number[] };
  /** The figure for all bars. Default: their sum. */
  summary?: string;
  /** Called with the first and the last bar of a selection. Without it, nothing can be selected. */
  onSelect?: (first: Bar, last: Bar) => void;
};

const height = 64;

/** Figures over time as bars. Dragging over them selects a time. A table says the same to screen readers. */
export function BarChart({ label, say, bars, second, summary, onSelect }: Props) {
  const chart = useRef<SVGSVGElement>(null);
  const [hovered, setHovered] = useState<number | null>(null);
  const [dragFrom, setDragFrom] = useState<number | null>(null);
  const max = Math.max(0, ...bars.map(({ value }) => value ?? 0), ...(second?.values ?? [])) || 1;
  const total = bars.reduce((sum, { value }) => sum + (value ?? 0), 0);
  const sayKnown = (value: number | null): string => (value === null ? '–' : say(value));
  const sayAll = (index: number): string =>
    [
      bars[index]!.note ?? sayKnown(bars[index]!.value),
      ...(second ? [`${second.label}: ${say(second.values[index] ?? 0)}`] : []),
    ].join(' · ');
  const indexAt = ({ clientX }: React.PointerEvent): number => {
    const { left, width } = chart.current!.getBoundingClientRect();
    return Math.min(bars.length - 1, Math.max(0, Math.floor(((clientX - left) / width) * bars.length)));
  };
  const selected =
    dragFrom !== null && hovered !== null ? [Math.min(dragFrom, hovered), Math.max(dragFrom, hovered)] : null;
  const shown = hovered === null ? undefined : bars[hovered];
  const width = second ? 0.4 : 0.8;
  return (
    <figure className="min-w-0">
      <figcaption className="tabular flex justify-between gap-3 pb-1 text-12 text-muted" aria-hidden>
        <span className="truncate">{shown ? shown.label : label}</span>
        <span className="whitespace-nowrap">{shown ? sayAll(hovered!) : (summary ?? say(total))}</span>
      </figcaption>
      <svg
        ref={chart}
        viewBox={`0 0 ${bars.length} ${height}`}
        preserveAspectRatio="none"
        aria-hidden
        className={`block h-16 w-full border-b ${onSelect ? 'cursor-crosshair touch-none' : ''}`}
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
        {bars.map(({ at, value }, index) => (
          <g key={at}>
            <Column x={index + 0.1} width={width} share={(value ?? 0) / max} isHovered={index === hovered} />
            {second && (
              <Column x={index + 0.5} width={width} share={(second.values[index] ?? 0) / max} className="fill-high" />
            )}
          </g>
        ))}
      </svg>
      <div className="tabular flex justify-between gap-2 pt-1 whitespace-nowrap text-12 text-faint" aria-hidden>
        <span>{bars[0]?.label}</span>
        <span>{bars.at(-1)?.label}</span>
      </div>
      <table className="sr-only">
        <caption>{label}</caption>
        <tbody>
          {bars.map((bar, index) =>
            bar.value || second?.values[index] ? (
              <tr key={bar.at}>
                <th scope="row">{bar.label}</th>
                <td>{sayAll(index)}</td>
              </tr>
            ) : null,
          )}
        </tbody>
      </table>
    </figure>
  );
}

type ColumnProps = { x: number; width: number; share: number; isHovered?: boolean; className?: string };

function Column({ x, width, share, isHovered, className = 'fill-accent' }: ColumnProps) {
  const size = share === 0 ? 0 : Math.max(1.5, share * height);
  return <rect x={x} width={width} y={height - size} height={size} className={isHovered ? 'fill-ink' : className} />;
}
