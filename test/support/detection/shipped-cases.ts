import { loadLibrary } from '../../../src/detection/library/load-library.ts';
import { findEventTime } from '../../../src/detection/log-ingest/events/event-time.ts';
import {
  openForeignStore,
  type FixtureDeps,
  type FixtureEvent,
  type FixtureStore,
  type ForeignEvent,
} from '../../../src/detection/log-query/search/fixture-store.ts';
import type { QueryRow, SearchLimits } from '../../../src/detection/siem/connector.ts';
import { groupByDataset } from '../../../src/detection/testing/run-test-case.ts';

export type StoredEvent = { id: string; at: Date; event: FixtureEvent };
/** A shipped detection with the events of all of its tests, by dataset. */
export type ShippedCase = { id: string; query: string; events: Record<string, StoredEvent[]> };

/** Events without a time happen then. */
const undated = new Date('2030-01-07T00:00:00Z');
/** A window that contains all events. */
export const shippedWindow = { from: new Date('2000-01-01'), to: new Date('2090-01-01'), clock: 'event' as const };

export const listShippedCases = (): ShippedCase[] =>
  [...loadLibrary().values()].map(({ id, body, tests, datasets }) => {
    const lists = tests.tests.map(({ events }) => groupByDataset(events, Object.keys(datasets)));
    const entries = Object.keys(datasets).map((name) => [name, lists.flatMap((list) => list[name] ?? [])] as const);
    return {
      id,
      query: body.detectionQuery,
      events: Object.fromEntries(entries.map(([name, events]) => [name, events.map((event, n) => store(event, n))])),
    };
  });

const store = (event: FixtureEvent, n: number): StoredEvent => {
  const micros = findEventTime(event);
  return { id: `event-${n}`, at: micros === undefined ? undated : new Date(micros / 1000), event };
};

/** Returns rows as sorted texts, without regard to the order of the keys of objects, which not every store keeps. */
export const toComparableRows = (rows: readonly QueryRow[]): string[] =>
  rows.map((row) => JSON.stringify(row, sortObjectText)).toSorted();

function sortObjectText(_name: string, value: unknown): unknown {
  const objects = typeof value === 'string' && /^\[\{.*\}\]$/.test(value) ? (JSON.parse(value) as object[]) : undefined;
  return objects?.map((object) => Object.entries(object).toSorted()) ?? value;
}

/** Returns the rows that the embedded engine finds in the events. */
export async function searchEmbedded(
  deps: FixtureDeps,
  query: string,
  events: ShippedCase['events'],
  limits: SearchLimits,
): Promise<QueryRow[]> {
  const store = await openEmbedded(deps, events);
  try {
    return (await store.searchAll(query, shippedWindow, limits, AbortSignal.timeout(limits.timeoutMs))).rows;
  } finally {
    await store.close();
  }
}

/** Stores the events where the embedded engine reads them, until the store is closed. */
export function openEmbedded(deps: FixtureDeps, events: ShippedCase['events']): Promise<FixtureStore> {
  const stored = Object.entries(events).map(([name, list]) => [name, list.map(toForeignEvent)] as const);
  return openForeignStore(deps, { events: Object.fromEntries(stored), fields: new Map(), undatedMicros: 0 });
}

const toForeignEvent = ({ id, at, event }: StoredEvent): ForeignEvent => ({
  event,
  id,
  timeMicros: at.getTime() * 1000,
});
