import { runInSlices } from '../../platform/lib/concurrency/slices.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { analyzeWindow, prepareWindow, type PreparedWindow } from '../analysis/analyze-window.ts';
import type { Candidate } from '../analysis/candidate.ts';
import type { ListTest } from '../analysis/exceptions.ts';
import type { RecalledMemory } from '../analysis/memory/memory.ts';
import { recallFromWindows, type WindowMemory } from '../analysis/memory/recall.ts';
import { getCategory } from '../analysis/registry.ts';
import type { DroppedCounts } from '../analysis/category.ts';
import { countSuppressed, runStep } from '../runs/run-model/run-progress.ts';
import { addSuppressed } from '../runs/judging/judging-session.ts';
import type { Suppressed } from '../runs/run-model/runs.schema.ts';
import type { ActiveRun } from '../runs/run-model/active-run.ts';
import { reportWindowWarnings } from '../runs/execution/examine-window.ts';
import { searchLimits, trialClock } from '../runs/run-model/search-window.ts';
import type { StoredCandidate } from '../runs/judging/candidates.store.ts';
import {
  addSuppression,
  createAllowListFinder,
  type Resolution,
  resolveCandidates,
  type SettlingContext,
} from '../runs/judging/resolutions/resolve-candidates.ts';
import { createTrialJudging } from '../runs/judging/trial-judge.ts';
import type { Suppression } from '../runs/judging/resolutions/suppressions.store.ts';
import { createAnalyst, type Judge } from '../runs/judging/judge.ts';
import { type TimeRange, listWindowsBefore, splitIntoWindows } from '../scheduling/timeline.ts';
import type { QueryWindow, SearchResult, SiemConnection } from '../siem/connector.ts';

/** Input of a simulation on event time. `past` windows only fill memory; `windows` are examined and judged. */
export type Simulation = {
  run: ActiveRun;
  connection: Pick<SiemConnection, 'search' | 'searchWindows'>;
  past: TimeRange[];
  windows: TimeRange[];
  /** Slot time. Events ingested later are ignored. */
  now: Date;
  signal: AbortSignal;
  /** The value lists that exist, with their values. */
  allowLists?: ReadonlyMap<string, readonly string[]>;
  /** The value lists of the severity rules. Without them, nothing is in a list. */
  ruleLists?: ReadonlyMap<string, ListTest>;
  /** What mutes candidates, exceptions included. Without it, only the value lists of the tuning do. */
  mutes?: Pick<SettlingContext, 'findException' | 'findAllowList'>;
  /** Returns the memory that a window is compared with. Without it, that of the windows before it. */
  recall?: (prepared: PreparedWindow) => Promise<RecalledMemory>;
  /** Without a judge, the built-in analyst gives the verdicts. */
  judge?: Judge;
  /** Called after each window, past ones included, with how many are examined of how many. */
  onWindow?: (done: number, total: number) => void;
};

export type SimulatedWindow = TimeRange & {
  dropped: DroppedCounts;
  rowsTotal: number;
  truncated: boolean;
  noData: boolean;
  learning: boolean;
  candidates: Candidate[];
  resolutions: Resolution[];
};

/** `complete` is false if the signal aborted the simulation before all windows were examined. */
export type SimulationResult = { windows: SimulatedWindow[]; suppressed: Suppressed; complete: boolean };

/** Runs a detection over windows in order, as a schedule would, with its own memory and suppression. Stores nothing. */
export async function runSimulation(simulation: Simulation): Promise<SimulationResult> {
  const { run, past, signal } = simulation;
  const memory: WindowMemory[] = [];
  const suppressions = new Map<string, readonly Suppression[]>();
  const getJudgment = createTrialJudging(run, simulation.judge ?? createAnalyst(run.definition), signal);
  const windows: SimulatedWindow[] = [];
  try {
    const hasLookback = getCategory(run.analysis.category).lookbackMs(run.analysis) > 0;
    const pastWindows = hasLookback ? past : [];
    const examined = examineWindows(simulation, [...pastWindows, ...simulation.windows]);
    const total = pastWindows.length + simulation.windows.length;
    let done = 0;
    for (const window of pastWindows) {
      const { prepared, result } = await getNext(examined);
      if (fillsMemory(result)) memory.push({ ...window, entries: prepared.memory });
      simulation.onWindow?.(++done, total);
    }
    for (const window of simulation.windows) {
      const { prepared, result } = await getNext(examined);
      await runStep(run, reportWindowWarnings(run, result, prepared));
      const past = simulation.recall
        ? await simulation.recall(prepared)
        : await runInSlices(recallFromWindows(memory, prepared.window, prepared.query));
      const analysis = await runInSlices(analyzeWindow(prepared, past, simulation.ruleLists));
      if (fillsMemory(result)) memory.push({ ...window, entries: prepared.memory });
      const resolutions = await resolveWindow(
        { ...simulation, getJudgment },
        window,
        analysis.candidates,
        suppressions,
      );
      const { truncated, noData, total: rowsTotal } = result;
      windows.push({ ...window, rowsTotal, truncated, noData, ...analysis, resolutions });
      simulation.onWindow?.(++done, total);
    }
    return toResult(windows, true);
  } catch (error) {
    if (!signal.aborted) throw error;
    return toResult(windows, false);
  }
}

/** Counts what was not judged as a run does. */
function toResult(windows: SimulatedWindow[], complete: boolean): SimulationResult {
  const suppressed = countSuppressed({}, windows);
  for (const { resolutions } of windows) addSuppressed(suppressed, resolutions);
  return { windows, suppressed, complete };
}

/** Returns whether a window fills memory. As in a run, windows that were truncated or lie before the first event do not fill memory. */
const fillsMemory = ({ truncated, early }: SearchResult): boolean => !truncated && early !== true;

type Examined = { result: SearchResult; prepared: PreparedWindow };

/** Queries and prepares windows, one after the other. */
async function* examineWindows(
  { run, connection, now, signal }: Simulation,
  windows: TimeRange[],
): AsyncGenerator<Examined, void, void> {
  const clock = trialClock(run.connection);
  const queryWindows = windows.map((window): QueryWindow => ({ ...window, clock, ingestedBefore: now }));
  const query = run.definition.detectionQuery;
  const results =
    connection.searchWindows?.(query, queryWindows, searchLimits, signal) ??
    searchOneByOne(connection, query, queryWindows, signal);
  for (const window of windows) {
    signal.throwIfAborted();
    const result = await getNext(results);
    const analyzed = { ...window, aggregate: result.aggregate };
    yield { result, prepared: await runInSlices(prepareWindow(result.rows, analyzed, run.analysis)) };
  }
}

async function* searchOneByOne(
  { search }: Pick<SiemConnection, 'search'>,
  query: string,
  windows: QueryWindow[],
  signal: AbortSignal,
): AsyncGenerator<SearchResult> {
  for (const window of windows) yield await search(query, window, searchLimits, signal);
}

/** Returns the next value of a generator, which yields one value for each window. */
async function getNext<T>(values: AsyncGenerator<T>): Promise<T> {
  const { value, done } = await values.next();
  if (done) throw new Error('A window has no result.');
  return value as T;
}

type GetJudgment = ReturnType<typeof createTrialJudging>;

/** Resolves a window's candidates and adds their suppressions to `suppressions`. */
async function resolveWindow(
  { run, now, getJudgment, allowLists = new Map(), mutes }: Simulation & { getJudgment: GetJudgment },
  window: TimeRange,
  candidates: Candidate[],
  suppressions: Map<string, readonly Suppression[]>,
): Promise<Resolution[]> {
  const stored = candidates.map((candidate): StoredCandidate => ({
    ...candidate,
    id: uuidv7(now),
    runId: run.id,
    late: false,
    arrivedAt: null,
    windowFrom: window.from,
    windowTo: window.to,
    generation: run.scope.generation,
    createdAt: now,
    verdict: null,
  }));
  const { findException, findAllowList } = mutes ?? {
    findException: () => undefined,
    findAllowList: createAllowListFinder(allowLists),
  };
  const context = { getScope: () => run, known: suppressions, findException, findAllowList };
  const resolutions = await resolveCandidates(stored, context, getJudgment);
  for (const resolution of resolutions)
    if (resolution.outcome === 'judged' && resolution.suppression) addSuppression(suppressions, resolution.suppression);
  return resolutions;
}

const hourly = '0 * * * *';

/** Windows end at the slots of a cron schedule, minus the connection's delay. `cron` is null without a schedule. */
type WindowSchedule = { cron: string | null; delayMs: number };

/** Returns the first `max` slot windows of a time range. Without a schedule, the range is one window. */
export function windowsWithin(range: TimeRange, { cron, delayMs }: WindowSchedule, max: number): TimeRange[] {
  return cron === null ? [range] : splitIntoWindows(range, { cron, delayMs }, max);
}

/** Returns the latest `max` slot windows before a time, back to `since`, oldest first. Without a schedule, windows are hourly. */
export function windowsBefore(before: Date, since: Date, { cron, delayMs }: WindowSchedule, max: number): TimeRange[] {
  return listWindowsBefore(before, { cron: cron ?? hourly, delayMs }, { since, max }).toReversed();
}
