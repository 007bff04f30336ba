import type { Clock } from '../../platform/lib/time/clock.ts';
import { inOrg } from '../../platform/db/db.ts';
import { fieldError, appError } from '../../platform/lib/errors.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { getCategory } from '../analysis/registry.ts';
import { type ActiveRun, createTrialRun } from '../runs/run-model/active-run.ts';
import { addWarning, runStep } from '../runs/run-model/run-progress.ts';
import { readRuleLists } from '../runs/execution/examine-window.ts';
import type { JudgeDeps } from '../runs/judging/model/model-judge.ts';
import type { Resolution } from '../runs/judging/resolutions/resolve-candidates.ts';
import { createTrialJudge } from '../runs/judging/trial-judge.ts';
import type { ConnectionSelector, LateEvents, SiemConnection } from '../siem/connector.ts';
import type { TestSubject } from './run-test-case.ts';
import { runSimulation, type Simulation, type SimulationResult, windowsBefore, windowsWithin } from './simulate.ts';
import { describeMissingLists, readValueLists } from '../value-lists/value-lists.store.ts';
import type { TimeRange } from '../scheduling/timeline.ts';
import { ModelError } from '../../platform/models/model-error.ts';
import { toQueryProblem } from '../siem/siem-errors.ts';

/** The dependencies of running a detection on the past. `clock` is slot time. */
export type TrialDeps = JudgeDeps & {
  clock: Clock;
  connectionFor: (orgId: OrgId, selector: ConnectionSelector) => Promise<SiemConnection>;
};

/** `stopped` aborts when nobody waits for the result anymore. */
type TrialTime = { range: TimeRange; now: Date; stopped?: AbortSignal } & Pick<Simulation, 'onWindow'>;

const windowsMax = 200;
const timeMsMax = 60_000;

/** Creates a trial run on event time with the SIEM connection of the definition. Throws a 422 if the connection does not exist. */
export async function openTrialRun(
  { connectionFor }: Pick<TrialDeps, 'connectionFor'>,
  subject: TestSubject,
  now: Date,
): Promise<ActiveRun> {
  try {
    const connection = await connectionFor(subject.orgId, subject.definition);
    return createTrialRun(subject, { connection, clock: 'event', model: 'analyst', at: now });
  } catch (error) {
    throw toQueryError(error);
  }
}

/** Parses the time range of a request body. Throws a 400 if it is empty. */
export function parseTimeRange(from: string, to: string): TimeRange {
  const range = { from: new Date(from), to: new Date(to) };
  if (range.from >= range.to) throw fieldError('/to', 'out_of_range', 'to must be later than from.');
  return range;
}

/**
 * Simulates a run over the slot windows of a time range, with memory filled from the windows before it. Takes at most 60 seconds. Throws a
 * 400 for more than 200 windows, a 422 for a query that fails, and a 503 if the SIEM or a model fails. Ends incomplete once `stopped` aborts.
 */
export async function simulateTimeRange(
  deps: JudgeDeps,
  run: ActiveRun,
  { range, now, stopped, onWindow }: TrialTime,
): Promise<SimulationResult> {
  const { connection, definition, analysis } = run;
  // The same windows as those of scheduled runs, so that the hits get the same keys.
  const schedule = { cron: definition.cronSchedule, delayMs: connection.delayMs };
  const windows = windowsWithin(range, schedule, windowsMax + 1);
  if (windows.length > windowsMax)
    throw fieldError('/to', 'out_of_range', `The range has more than ${windowsMax} windows. Choose an earlier to.`);
  const signal = AbortSignal.any([AbortSignal.timeout(timeMsMax), ...(stopped ? [stopped] : [])]);
  try {
    const oldestEvent = await findOldestEvent(connection, definition.detectionQuery, signal);
    const reach = new Date(range.from.getTime() - getCategory(analysis.category).lookbackMs(analysis));
    const since = oldestEvent && oldestEvent > reach ? oldestEvent : reach;
    const past = oldestEvent === null ? [] : windowsBefore(windows[0]!.from, since, schedule, windowsMax);
    const judge = createTrialJudge(deps, run);
    const listNames = definition.tuning?.allowLists ?? [];
    const allowLists = await inOrg(deps.db, run.orgId, (tx) => readValueLists(tx, run.orgId, listNames));
    const missing = listNames.filter((name) => !allowLists.has(name));
    if (missing.length > 0) addWarning(run.progress, 'unknown_list', describeMissingLists(missing));
    const ruleLists = await runStep(run, readRuleLists(deps, run));
    await warnOfVeryLateEvents(run, { range, now, signal });
    const simulation = { run, connection, past, windows, now, signal, judge, allowLists, ruleLists };
    return await runSimulation({ ...simulation, ...(onWindow && { onWindow }) });
  } catch (error) {
    throw toQueryError(error);
  }
}

/**
 * Warns about events that are examined here in the window of their own time, but counted by scheduled runs in the window in which they arrived,
 * because they were later than a run looks back.
 */
async function warnOfVeryLateEvents(
  { connection: { lateEvents }, definition, progress }: ActiveRun,
  { range, now, signal }: { range: TimeRange; now: Date; signal: AbortSignal },
): Promise<void> {
  if (!lateEvents) return;
  const find = (to: Date): Promise<LateEvents[]> =>
    lateEvents.find(definition.detectionQuery, { from: range.from, to }, signal, lateEvents.lagMsMax);
  const belonging = (await find(now)).filter(({ from, to }) => from < range.to && to > range.from);
  const arrived = (await find(range.to)).filter(({ to }) => to <= range.from);
  const events = [...belonging, ...arrived].reduce((sum, late) => sum + late.events, 0);
  if (events === 0) return;
  const days = Math.round(lateEvents.lagMsMax / 86_400_000);
  const verb = events === 1 ? '1 event that belongs' : `${events} events that belong`;
  const detail = `${verb} to this time or arrived in it came more than ${days} days late. Here such events count in the windows of their own time. Scheduled runs counted them in the windows in which they arrived, so their hits can differ.`;
  addWarning(progress, 'late_data', detail);
}

/** Returns the time of the oldest event that a query can read, or null. A SIEM that cannot report it counts as having events since 1970. */
export function findOldestEvent(connection: SiemConnection, query: string, signal: AbortSignal): Promise<Date | null> {
  return connection.firstEventAt?.(query, signal) ?? Promise.resolve(new Date(0));
}

/** Returns the keys of the hits that the resolutions would create or join. */
export function collectHitKeys(resolutions: Resolution[]): Set<string> {
  return new Set(
    resolutions.flatMap((resolution) =>
      resolution.outcome === 'judged' && resolution.verdict.triggered ? [resolution.hitKey] : [],
    ),
  );
}

export const countRows = ({ windows }: SimulationResult): number =>
  windows.reduce((sum, { rowsTotal }) => sum + rowsTotal, 0);

/** Converts a query failure to a 422, and a failure of the SIEM, a model or this service to a 503. Returns other errors unchanged. */
export function toQueryError(error: unknown): unknown {
  if (error instanceof ModelError)
    return appError(error.failure.blame === 'author' ? 'check_failed' : 'unavailable', error.failure.message);
  return toQueryProblem(error, '/detectionQuery');
}
