import type { Clock } from '../../platform/lib/time/clock.ts';
import type { Candidate } from '../analysis/candidate.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Definition } from '../detections/record/detection-record.ts';
import type { TestCase } from '../detections/test-cases.schema.ts';
import type { FieldsByDataset } from '../log-store/catalog/catalog.ts';
import type { LogEngine } from '../log-engine/process/engine.ts';
import { openFixtureStore, type FixtureEvent } from '../log-query/search/fixture-store.ts';
import type { SegmentStore } from '../log-store/files/segment-store.ts';
import type { ActiveRun } from '../runs/run-model/active-run.ts';
import type { Suppressed } from '../runs/run-model/runs.schema.ts';
import type { Judge } from '../runs/judging/judge.ts';
import type { SiemConnection, SearchResult } from '../siem/connector.ts';
import { runSimulation, windowsBefore, type Simulation } from './simulate.ts';
import { learningWindows } from '../analysis/memory/memory.ts';
import { findEventTime } from '../log-ingest/events/event-time.ts';
import type { TimeRange } from '../scheduling/timeline.ts';

/** A test case needs the engine and a folder, but no database. `clock` is slot time. */
export type TestCaseDeps = { engine: LogEngine; segmentStore: Pick<SegmentStore, 'folderOf'>; clock: Clock };

export type TestSubject = { orgId: OrgId; detectionId: string; definition: Definition };

/**
 * One test case of a run. `datasets` are those that the query reads. With `isForeignQuery`, the query is not run and the events are used as its
 * rows. `fields` are the fields of the datasets besides those of the case's events. `lists` are the value lists of the tuning. Without `judge`, the built-in analyst gives the verdicts.
 */
export type TestCaseInput = {
  run: ActiveRun;
  test: TestCase;
  datasets: string[];
  isForeignQuery: boolean;
  fields: FieldsByDataset;
  lists: Pick<Simulation, 'allowLists' | 'ruleLists'>;
  judge?: Judge;
  signal: AbortSignal;
};

/** The entities that a test case raises hits for, sorted, how many candidates were not judged, and all candidates. */
type CaseResult = { found: string[]; suppressed: Suppressed; candidates: Candidate[] };

/**
 * Returns what a test case raises hits for. All events are in one window and the history in slot windows before it.
 * There are no events before the history. Throws an Error that explains what is wrong with the query or the events.
 */
export async function runTestCase(
  deps: TestCaseDeps,
  { run, test, datasets, isForeignQuery, fields, lists, judge, signal }: TestCaseInput,
): Promise<CaseResult> {
  const now = deps.clock();
  const events = groupByDataset(test.events, datasets);
  const history = groupByDataset(test.history ?? [], datasets);
  const { window, past } = planCaseWindows({ events, history, now }, run.definition.cronSchedule);
  const allEvents = mergeEvents(datasets, history, events);
  const store = isForeignQuery
    ? undefined
    : await openFixtureStore(
        { ...deps, organization: run.orgId },
        { events: allEvents, fields, undatedMicros: now.getTime() * 1000 },
      );
  const search: SiemConnection['search'] =
    store?.search ?? ((_query, queryWindow) => Promise.resolve(searchEventRows(allEvents, queryWindow, now)));
  try {
    const { windows, suppressed, complete } = await runSimulation({
      run,
      connection: { search },
      past,
      windows: [window],
      now: new Date(Math.max(now.getTime(), window.to.getTime()) + 1),
      signal,
      ...lists,
      ...(judge ? { judge } : {}),
    });
    if (!complete) throw new Error('The time limit of the tests was reached.');
    const resolutions = windows.flatMap((examined) => examined.resolutions);
    // A test that passes only because the model gave no verdict would prove nothing.
    for (const resolution of resolutions)
      if (resolution.outcome === 'judged' && resolution.fallback) throw new Error(resolution.fallback.message);
    const entities = resolutions.flatMap((resolution) =>
      resolution.outcome === 'judged' && resolution.verdict.triggered ? [resolution.candidate.entity] : [],
    );
    const candidates = windows.flatMap((examined) => examined.candidates);
    return { found: [...new Set(entities)].toSorted(), suppressed, candidates };
  } finally {
    await store?.close();
  }
}

const historyWindowsMax = 400;

type EventsByDataset = Record<string, FixtureEvent[]>;

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
function mergeEvents(datasets: string[], history: EventsByDataset, events: EventsByDataset): EventsByDataset {
  const names = new Set([...datasets, ...Object.keys(events), ...Object.keys(history)]);
  return Object.fromEntries([...names].map((name) => [name, [...(history[name] ?? []), ...(events[name] ?? [])]]));
}

/**
 * Returns the one window that contains all events, and the slot windows before it back to the oldest event of the history. Adds earlier
 * windows without events until the detection has finished learning. Events without a time happen at `now`.
 */
function planCaseWindows(
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
function searchEventRows(events: EventsByDataset, window: TimeRange, now: Date): SearchResult {
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
