import { useRef, useState } from 'react';
import type { TimelineWindow } from '../../../api/detections.ts';
import { formatLocal } from '../../../lib/time.ts';
import { texts } from '../../../texts/detection.ts';

export type TimeRange = { from: string; to: string };

const fills: Record<TimelineWindow['state'], string> = {
  covered: 'bg-accent/35',
  pending: 'border border-dashed border-line-strong',
  gap: 'hatched text-high',
  filling: 'hatched text-accent',
  expired: 'hatched text-faint',
};
const states = Object.keys(fills) as TimelineWindow['state'][];

type Props = {
  range: TimeRange;
  windows: readonly TimelineWindow[];
  /** Start of the first window. */
  coverageFrom: string;
  selected: TimeRange | null;
  onSelect: (range: TimeRange) => void;
};

/** Time as one bar. What was not examined is hatched, so that it never looks like time in which nothing was found. */
export function Timeline({ range, windows, coverageFrom, selected, onSelect }: Props) {
  const bar = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<[number, number] | null>(null);
  const [start, end] = [Date.parse(range.from), Date.parse(range.to)];
  const share = (time: number): number => ((time - start) / (end - start)) * 100;
  const timeAt = (clientX: number): number => {
    const { left, width } = bar.current!.getBoundingClientRect();
    return start + Math.min(1, Math.max(0, (clientX - left) / width)) * (end - start);
  };
  const marked: [number, number] | null = drag ?? (selected && [Date.parse(selected.from), Date.parse(selected.to)]);
  return (
    <div className="flex flex-col gap-2">
      <div
        ref={bar}
        role="img"
        aria-label={texts.timeline.summary(windows.filter(({ state }) => state === 'gap').length)}
        className="relative h-9 cursor-crosshair touch-none overflow-hidden rounded-small bg-hover select-none"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          const at = timeAt(event.clientX);
          setDrag([at, at]);
        }}
        onPointerMove={(event) => drag && setDrag([drag[0], timeAt(event.clientX)])}
        onPointerUp={() => {
          if (drag) onSelect(widen(drag, windows));
          setDrag(null);
        }}
        onPointerCancel={() => setDrag(null)}
      >
        {windows.map((window) => (
          <div
            key={window.from}
            title={`${texts.timeline.legend[window.state]}: ${formatLocal(window.from)} – ${formatLocal(window.to)}${window.reason ? ` (${window.reason})` : ''}`}
            className={`absolute inset-y-0 min-w-[3px] ${fills[window.state]}`}
            style={{
              left: `${share(Date.parse(window.from))}%`,
              width: `${share(Date.parse(window.to)) - share(Date.parse(window.from))}%`,
            }}
          />
        ))}
        {marked && (
          <div
            className="pointer-events-none absolute inset-y-0 border-x-2 border-accent bg-accent/15"
            style={{
              left: `${share(Math.min(...marked))}%`,
              width: `${Math.abs(share(marked[1]) - share(marked[0]))}%`,
            }}
          />
        )}
      </div>
      <div className="tabular flex justify-between text-12 text-faint">
        <span>{formatLocal(range.from).slice(0, 16)}</span>
        <span>{formatLocal(range.to).slice(0, 16)}</span>
      </div>
      <ul className="flex flex-wrap gap-x-4 gap-y-1 text-12 text-muted">
        {states
          .filter((state) => windows.some((window) => window.state === state))
          .map((state) => (
            <li key={state} className="flex items-center gap-1.5">
              <span className={`size-3 rounded-small ${fills[state]}`} aria-hidden />
              {texts.timeline.legend[state]}
            </li>
          ))}
        {Date.parse(coverageFrom) > start && (
          <li className="flex items-center gap-1.5">
            <span className="size-3 rounded-small border bg-hover" aria-hidden />
            {texts.timeline.legend.before}
          </li>
        )}
      </ul>
    </div>
  );
}

/** A click selects the window below it; a drag selects the time between its ends. */
function widen([one, other]: [number, number], windows: readonly TimelineWindow[]): TimeRange {
  const [from, to] = [Math.min(one, other), Math.max(one, other)];
  const clicked = windows.find((window) => Date.parse(window.from) <= from && from < Date.parse(window.to));
  if (clicked && to - from < 60_000) return { from: clicked.from, to: clicked.to };
  return { from: new Date(from).toISOString(), to: new Date(Math.max(to, from + 60_000)).toISOString() };
}
