import type { DemoClient } from './client.ts';
import type { LogEvent } from './company/shapes.ts';

const linesMax = 20_000;

/** Sends events to their datasets. `history`: scheduled windows never examine them. Answers how many were accepted. */
export async function sendEvents(call: DemoClient, events: LogEvent[], history: boolean): Promise<number> {
  let accepted = 0;
  for (const [dataset, lines] of byDataset(events)) {
    for (let from = 0; from < lines.length; from += linesMax) {
      const body = lines.slice(from, from + linesMax).join('\n');
      const receipt = await call<{ accepted: number; rejectedTotal: number }>(
        'POST',
        `/api/logs/${dataset}${history ? '?history=true' : ''}`,
        body,
      );
      if (receipt.rejectedTotal > 0)
        throw new Error(`The log store refused ${receipt.rejectedTotal} events of ${dataset}.`);
      accepted += receipt.accepted;
    }
  }
  return accepted;
}

function byDataset(events: LogEvent[]): Map<string, string[]> {
  const lines = new Map<string, string[]>();
  for (const { dataset, event } of events) {
    const own = lines.get(dataset);
    if (own) own.push(JSON.stringify(event));
    else lines.set(dataset, [JSON.stringify(event)]);
  }
  return lines;
}

/** Splits time-ordered events at the days, so that a query over an hour of the past reads one day and no more. */
export function splitByDay(events: LogEvent[]): LogEvent[][] {
  const days = new Map<number, LogEvent[]>();
  for (const event of events) {
    const day = Math.floor(event.at.getTime() / 86_400_000);
    const own = days.get(day);
    if (own) own.push(event);
    else days.set(day, [event]);
  }
  return [...days.values()];
}
