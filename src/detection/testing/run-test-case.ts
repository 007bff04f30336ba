import { learningWindows } from '../analysis/memory/memory.ts';
import type { Definition } from '../detections/record/definition.ts';
import type { TestCase } from '../detections/test-cases/test-cases.schema.ts';
import type { Clock } from '../../platform/lib/clock.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import {
  givenTime,
  openFixtureStore,
  type FixtureEvent,
  type FieldsByDataset,
  type FixtureDeps,
} from '../logs/query/fixture-store.ts';
import { listDatasetsRead } from '../logs/query/inspect-query.ts';
import type { Judge } from '../runs/judging/judge.ts';
import type { ActiveRun } from '../runs/execution/active-run.ts';
import type { Row, SearchResult, SiemConnection } from '../siem/connector.ts';
import { simulate, type TimeRange } from './simulate.ts';
import { windowsBefore } from './simulation-windows.ts';

const historyWindowsMax = 400;

/** What a test case needs: the engine and a folder, no database. `clock` is slot time. */
export type TestCaseDeps = Omit<FixtureDeps, 'organization'> & { clock: Clock };

export type EventsByDataset = Record<string, FixtureEvent[]>;
export type TestSubject = { orgId: OrgId; detectionId: string; definition: Definition };

/** One case and how it is tried. `columns`: what the datasets have beside what the case's own events show. `judge`: none, the analyst. */
export type TestCaseInput = {
  run: ActiveRun;
  test: TestCase;
  isForeign: boolean;
  columns: FieldsByDataset;
  judge?: Judge;
  signal: AbortSignal;
};

/**
 * The entities that a test case makes hits of, in order. All its events lie in one window; its history lies in slot windows before,
 * and before those nothing happened. Events without a time happen at the present. Throws what is wrong with query or events.
 */
export async function runTestCase(
  deps: TestCaseDeps,
  { run, test, isForeign, columns, judge, signal }: TestCaseInput,
): Promise<string[]> {
  const now = deps.clock();
  const { orgId, definition } = run;
  const datasets = await findTestDatasets(deps, { orgId, definition, isForeign }, signal);
  const events = groupByDataset(test.events, datasets);
  const history = groupByDataset(test.history ?? [], datasets);
  const { window, past } = windowsOf({ events, history, now }, definition.cronSchedule);
  const all = merged(datasets, events, history);
  const undated = now.getTime() * 1000;
  const given = isForeign
    ? undefined
    : await openFixtureStore({ ...deps, organization: orgId }, { events: all, columns, undated });
  const search: SiemConnection['search'] =
    given?.search ?? ((_query, asked) => Promise.resolve(rowsIn(all, asked, now)));
  try {
    const later = new Date(Math.max(now.getTime(), window.to.getTime()) + 1);
    const simulated = await simulate({
      run,
      search,
      past,
      windows: [window],
      now: later,
      signal,
      ...(judge ? { judge } : {}),
    });
    if (!simulated.complete) throw new Error('The tests took too long.');
    const decisions = simulated.windows.flatMap((one) => one.decisions);
    const hits = decisions.flatMap((one) =>
      one.outcome === 'judged' && one.verified.triggered ? [one.candidate.entity] : [],
    );
    return [...new Set(hits)].toSorted();
  } finally {
    await given?.close();
  }
}

/** The datasets that the events of a detection's tests stand for; of another SIEM's query its rows. */
export function findTestDatasets(
  deps: Pick<TestCaseDeps, 'engine'>,
  { orgId, definition, isForeign }: { orgId: OrgId; definition: Definition; isForeign: boolean },
  signal: AbortSignal,
): Promise<string[]> {
  return isForeign ? Promise.resolve(['rows']) : listDatasetsRead(deps, orgId, definition.detectionQuery, signal);
}

/** The events of a case by dataset. Throws where a list could stand for more than one. */
export function groupByDataset(events: TestCase['events'], datasets: string[]): EventsByDataset {
  if (!Array.isArray(events)) return events;
  const [only] = datasets;
  if (events.length === 0) return {};
  if (only === undefined || datasets.length > 1)
    throw new Error(
      `The query reads ${datasets.length} datasets (${datasets.join(', ')}): give the events by dataset.`,
    );
  return { [only]: events };
}

function merged(datasets: string[], events: EventsByDataset, history: EventsByDataset): EventsByDataset {
  const names = [...new Set([...datasets, ...Object.keys(events), ...Object.keys(history)])];
  return Object.fromEntries(names.map((name) => [name, [...(history[name] ?? []), ...(events[name] ?? [])]]));
}

const timesOf = (events: EventsByDataset, now: Date): number[] =>
  Object.values(events).flatMap((list) => list.map((event) => timeOf(event, now)));

const timeOf = (event: FixtureEvent, now: Date): number =>
  Math.floor((givenTime(event) ?? now.getTime() * 1000) / 1000);

function windowsOf(
  { events, history, now }: { events: EventsByDataset; history: EventsByDataset; now: Date },
  cron: string | null,
): { window: TimeRange; past: TimeRange[] } {
  const own = timesOf(events, now);
  const before = timesOf(history, now);
  const first = own.length > 0 ? Math.min(...own) : now.getTime();
  const last = own.length > 0 ? Math.max(...own) : first;
  const latestBefore = Math.max(...before, -Infinity);
  if (latestBefore >= first) throw new Error('The history must lie before the events.');
  const window = { from: new Date(first), to: new Date(last + 1) };
  const oldest = before.length > 0 ? new Date(Math.min(...before)) : window.from;
  const cut = { cron, delayMs: 0 };
  const past = windowsBefore(window.from, oldest, cut, historyWindowsMax + 1);
  if (past.length > historyWindowsMax)
    throw new Error(`The history spans more than ${historyWindowsMax} windows of the schedule.`);
  const missing = Math.max(0, learningWindows - past.length);
  const start = past[0]?.from ?? window.from;
  return { window, past: [...windowsBefore(start, new Date(0), cut, missing), ...past] };
}

/** Events as the rows of another SIEM's answer. */
function rowsIn(all: EventsByDataset, asked: TimeRange, now: Date): SearchResult {
  const rows: Row[] = Object.values(all)
    .flat()
    .filter((event) => timeOf(event, now) >= asked.from.getTime() && timeOf(event, now) < asked.to.getTime());
  return { rows, total: rows.length, truncated: false, aggregate: false, noData: false, ms: 0 };
}
