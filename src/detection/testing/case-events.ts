import { learningWindows } from '../analysis/memory/memory.ts';
import type { TestCase } from '../detections/test-cases/test-cases.schema.ts';
import { findEventTime } from '../log-ingest/events/event-time.ts';
import type { FixtureEvent } from '../log-query/search/fixture-store.ts';
import type { SearchResult } from '../siem/connector.ts';
import type { TimeRange } from '../scheduling/slot-windows.ts';
import { windowsBefore } from './simulation/simulation-windows.ts';

const historyWindowsMax = 400;

export type EventsByDataset = Record<string, FixtureEvent[]>;

/** Groups the events of a test case by dataset. Throws an Error for a plain list if the query does not read exactly one dataset. */
export function groupByDataset(events: TestCase['events'], datasets: string[]): EventsByDataset {
  if (!Array.isArray(events)) return events;
  if (events.length === 0) return {};
  const [dataset] = datasets;
  if (dataset === undefined || datasets.length > 1)
    throw new Error(
      `The query reads ${datasets.length} datasets (${datasets.join(', ')}). Specify the events by dataset.`,
    );
  return { [dataset]: events };
}

/** Returns the history followed by the events, with an entry for each dataset. */
export function mergeEvents(datasets: string[], history: EventsByDataset, events: EventsByDataset): EventsByDataset {
  const names = new Set([...datasets, ...Object.keys(events), ...Object.keys(history)]);
  return Object.fromEntries([...names].map((name) => [name, [...(history[name] ?? []), ...(events[name] ?? [])]]));
}

/**
 * Returns the one window that contains all events, and the slot windows before it back to the oldest event of the history. Adds earlier
 * windows without events until the detection has finished learning. Events without a time happen at `now`.
 */
export function planCaseWindows(
  { events, history, now }: { events: EventsByDataset; history: EventsByDataset; now: Date },
  cron: string | null,
): { window: TimeRange; past: TimeRange[] } {
  const eventTimes = listTimes(events, now);
  const historyTimes = listTimes(history, now);
  const first = eventTimes.length > 0 ? Math.min(...eventTimes) : now.getTime();
  const last = eventTimes.length > 0 ? Math.max(...eventTimes) : first;
  if (Math.max(...historyTimes, -Infinity) >= first) throw new Error('The history must be older than the events.');
  const window = { from: new Date(first), to: new Date(last + 1) };
  const oldest = historyTimes.length > 0 ? new Date(Math.min(...historyTimes)) : window.from;
  const schedule = { cron, delayMs: 0 };
  const past = windowsBefore(window.from, oldest, schedule, historyWindowsMax + 1);
  if (past.length > historyWindowsMax)
    throw new Error(`The history spans more than ${historyWindowsMax} windows of the schedule.`);
  const missing = Math.max(0, learningWindows - past.length);
  const start = past[0]?.from ?? window.from;
  return { window, past: [...windowsBefore(start, new Date(0), schedule, missing), ...past] };
}

/** Returns the events within a window as if they were the result rows of another SIEM's query. */
export function searchEventRows(events: EventsByDataset, window: TimeRange, now: Date): SearchResult {
  const rows = Object.values(events)
    .flat()
    .filter((event) => {
      const ms = toTimeMs(event, now);
      return ms >= window.from.getTime() && ms < window.to.getTime();
    });
  return { rows, total: rows.length, truncated: false, aggregate: false, noData: false, ms: 0 };
}

const listTimes = (events: EventsByDataset, now: Date): number[] =>
  Object.values(events).flatMap((list) => list.map((event) => toTimeMs(event, now)));

function toTimeMs(event: FixtureEvent, now: Date): number {
  const micros = findEventTime(event);
  return micros === undefined ? now.getTime() : Math.floor(micros / 1000);
}
