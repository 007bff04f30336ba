import type { Clock } from '../../platform/lib/time/clock.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Definition } from '../detections/record/definition.ts';
import type { TestCase } from '../detections/test-cases/test-cases.schema.ts';
import type { FieldsByDataset } from '../log-store/catalog/catalog.ts';
import type { LogEngine } from '../log-engine/process/engine.ts';
import { openFixtureStore } from '../log-query/search/fixture-store.ts';
import type { SegmentStore } from '../log-store/files/segment-store.ts';
import type { ActiveRun } from '../runs/execution/active-run.ts';
import type { Suppressed } from '../runs/runs.schema.ts';
import type { Judge } from '../runs/judging/judge.ts';
import type { SiemConnection } from '../siem/connector.ts';
import { groupByDataset, mergeEvents, planCaseWindows, searchEventRows } from './case-events.ts';
import { runSimulation } from './simulation/simulate.ts';

/** A test case needs the engine and a folder, but no database. `clock` is slot time. */
export type TestCaseDeps = { engine: LogEngine; segmentStore: Pick<SegmentStore, 'folderOf'>; clock: Clock };

export type TestSubject = { orgId: OrgId; detectionId: string; definition: Definition };

/**
 * One test case of a run. `datasets` are those that the query reads. With `isForeignQuery`, the query is not run and the events are used as its
 * rows. `fields` are the fields of the datasets besides those of the case's events. Without `judge`, the built-in analyst gives the verdicts.
 */
export type TestCaseInput = {
  run: ActiveRun;
  test: TestCase;
  datasets: string[];
  isForeignQuery: boolean;
  fields: FieldsByDataset;
  judge?: Judge;
  signal: AbortSignal;
};

/** The entities that a test case raises hits for, sorted, and how many candidates were not judged. */
export type CaseResult = { found: string[]; suppressed: Suppressed };

/**
 * Returns what a test case raises hits for. All events are in one window and the history in slot windows before it.
 * There are no events before the history. Throws an Error that explains what is wrong with the query or the events.
 */
export async function runTestCase(
  deps: TestCaseDeps,
  { run, test, datasets, isForeignQuery, fields, judge, signal }: TestCaseInput,
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
      ...(judge ? { judge } : {}),
    });
    if (!complete) throw new Error('The time limit of the tests was reached.');
    const resolutions = windows.flatMap((examined) => examined.resolutions);
    // A test that passes only because the model gave no verdict would prove nothing.
    for (const resolution of resolutions)
      if (resolution.outcome === 'judged' && resolution.fallback) throw new Error(resolution.fallback.message);
    const entities = resolutions.flatMap((resolution) =>
      resolution.outcome === 'judged' && resolution.verified.triggered ? [resolution.candidate.entity] : [],
    );
    return { found: [...new Set(entities)].toSorted(), suppressed };
  } finally {
    await store?.close();
  }
}
