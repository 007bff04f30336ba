import type { DemoClient } from './client.ts';
import type { LogEvent } from './company/shapes.ts';

const linesMax = 20_000;

/** Sends events to their datasets. With `isHistory`, scheduled windows never examine them. Throws if any is rejected. */
export async function sendEvents(call: DemoClient, events: LogEvent[], isHistory: boolean): Promise<void> {
  for (const [dataset, group] of Map.groupBy(events, (event) => event.dataset)) {
    const lines = group.map(({ event }) => JSON.stringify(event));
    for (let from = 0; from < lines.length; from += linesMax) {
      const body = lines.slice(from, from + linesMax).join('\n');
      const { rejectedTotal } = await call<{ rejectedTotal: number }>(
        'POST',
        `/api/logs/${dataset}${isHistory ? '?history=true' : ''}`,
        body,
      );
      if (rejectedTotal > 0) throw new Error(`The log store rejected ${rejectedTotal} events of ${dataset}.`);
    }
  }
}

/** Splits time-ordered events by day, so that a query over a past hour reads one day only. */
export function splitByDay(events: LogEvent[]): LogEvent[][] {
  return [...Map.groupBy(events, ({ at }) => Math.floor(at.getTime() / 86_400_000)).values()];
}
