import { formatLocal, formatRelative, formatUtc } from '../lib/time.ts';
import { useNow } from '../lib/now.ts';

/** A time relative to now, with the exact local and UTC times on hover. */
export function RelativeTime({ time }: { time: string }) {
  return (
    <time dateTime={time} title={`${formatLocal(time)}\n${formatUtc(time)}`} className="tabular whitespace-nowrap">
      {formatRelative(time, useNow())}
    </time>
  );
}

/** The day of a time in the viewer's zone, with the exact local and UTC times on hover. */
export function Day({ time }: { time: string }) {
  return (
    <time dateTime={time} title={`${formatLocal(time)}\n${formatUtc(time)}`} className="tabular whitespace-nowrap">
      {formatLocal(time).slice(0, 10)}
    </time>
  );
}

/** A time in the viewer's zone, with UTC on hover. */
export function ExactTime({ time }: { time: string }) {
  return (
    <time dateTime={time} title={formatUtc(time)} className="tabular whitespace-nowrap">
      {formatLocal(time)}
    </time>
  );
}
