import { readAllPages } from '../platform/lib/page-request.ts';
import type { LogEvent } from './company/shapes.ts';

/** Calls the API over HTTP with a key and returns the JSON response. */
export type DemoClient = <T>(method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown) => Promise<T>;

export function createClient(address: string, key: string): DemoClient {
  return async (method, path, body) => {
    const isText = typeof body === 'string';
    const response = await fetch(address + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': isText ? 'application/x-ndjson' : 'application/json' },
      ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${await response.text()}`);
    return (await response.json()) as never;
  };
}

/** Returns all items of a paged list. */
export async function listAll<T>(call: DemoClient, path: string, field: string): Promise<T[]> {
  const { entries } = await readAllPages(async (query) => {
    const separator = path.includes('?') ? '&' : '?';
    const page = await call<Record<string, T[]> & { nextCursor?: string | null }>(
      'GET',
      `${path}${separator}${new URLSearchParams(query).toString()}`,
    );
    return { entries: page[field] ?? [], nextCursor: page.nextCursor ?? null };
  });
  return entries;
}

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
