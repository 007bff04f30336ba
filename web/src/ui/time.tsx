import { formatLocal, formatRelative, formatUtc } from '../lib/time.ts';
import { useNow } from '../lib/now.ts';

type Props = { time: string; title: string; children: React.ReactNode };

function Frame({ time, title, children }: Props) {
  return (
    <time dateTime={time} title={title} className="tabular whitespace-nowrap">
      {children}
    </time>
  );
}

const both = (time: string): string => `${formatLocal(time)}\n${formatUtc(time)}`;

/** A time relative to now, with the exact local and UTC times on hover. */
export function RelativeTime({ time }: { time: string }) {
  return (
    <Frame time={time} title={both(time)}>
      {formatRelative(time, useNow())}
    </Frame>
  );
}

/** The day of a time in the reader's zone, with the exact local and UTC times on hover. */
export function Day({ time }: { time: string }) {
  return (
    <Frame time={time} title={both(time)}>
      {formatLocal(time).slice(0, 10)}
    </Frame>
  );
}

/** A time in the reader's zone, with UTC on hover. */
export function ExactTime({ time }: { time: string }) {
  return (
    <Frame time={time} title={formatUtc(time)}>
      {formatLocal(time)}
    </Frame>
  );
}

/** A span of time in the reader's zone, to the minute, with UTC on hover. */
export function TimeRange({ from, to }: { from: string; to: string }) {
  return (
    <span className="tabular" title={`${formatUtc(from)} – ${formatUtc(to)}`}>
      <time dateTime={from} className="whitespace-nowrap">
        {formatLocal(from).slice(0, 16)}
      </time>
      {' – '}
      <time dateTime={to} className="whitespace-nowrap">
        {formatLocal(to).slice(0, 16)}
      </time>
    </span>
  );
}

/** The span of the last hours, so that "Last 24 hours" says which. */
export function LastHours({ hours }: { hours: number }) {
  const to = useNow();
  return (
    <span className="text-12 font-normal text-faint">
      <TimeRange from={new Date(to - hours * 3_600_000).toISOString()} to={new Date(to).toISOString()} />
    </span>
  );
}
