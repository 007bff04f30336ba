import { analyseWindow, prepareWindow } from '../analysis/analyze-window.ts';
import type { Candidate } from '../analysis/candidate.ts';
import { categories } from '../analysis/registry.ts';
import { recallFrom, type RememberedWindow } from '../analysis/memory/recall.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { missingColumns } from '../analysis/rows/missing-columns.ts';
import { resolveCandidates, type Resolution } from '../runs/judging/resolve-candidates.ts';
import { analyst, type Judge } from '../runs/judging/judge.ts';
import { addWarning, type ActiveRun } from '../runs/execution/active-run.ts';
import { searchLimits } from '../runs/execution/search-limits.ts';
import type { StoredCandidate, Suppression } from '../runs/judging/candidates.store.ts';
import type { SearchResult, SiemConnection } from '../siem/connector.ts';

export type TimeRange = { from: Date; to: Date };

/** What is tried out: `past` windows only fill memory, `windows` are examined and judged. All on event time. */
export type Simulation = {
  run: ActiveRun;
  search: SiemConnection['search'];
  past: TimeRange[];
  windows: TimeRange[];
  /** Slot time: events ingested later do not exist. */
  now: Date;
  signal: AbortSignal;
  judge?: Judge;
};

export type SimulatedWindow = TimeRange & {
  rowsTotal: number;
  truncated: boolean;
  noData: boolean;
  learning: boolean;
  candidates: Candidate[];
  decisions: Resolution[];
};

/** What came of it. `complete` false: the signal ended it before all windows were examined. */
export type SimulationResult = { windows: SimulatedWindow[]; complete: boolean };

/** Runs a detection over windows as a schedule would have, in order, with memory and suppression of its own, and stores nothing. */
export async function simulate(simulation: Simulation): Promise<SimulationResult> {
  const memory: RememberedWindow[] = [];
  const known = new Map<string, Suppression>();
  const windows: SimulatedWindow[] = [];
  try {
    if (categories[simulation.run.analysis.category].reachMs(simulation.run.analysis) > 0) {
      for (const window of simulation.past) {
        const { prepared, result } = await examine(simulation, window);
        if (teaches(result)) memory.push({ ...window, entries: prepared.memory });
      }
    }
    for (const window of simulation.windows) {
      const { prepared, result } = await examine(simulation, window);
      for (const { code, detail } of missingColumns(prepared.groups, simulation.run.analysis))
        addWarning(simulation.run.progress, code, detail);
      const found = analyseWindow(prepared, recallFrom(memory, prepared.window, prepared.query));
      if (teaches(result)) memory.push({ ...window, entries: prepared.memory });
      const decisions = await judgeAll(simulation, window, { candidates: found.candidates, known });
      const { truncated, noData, total: rowsTotal } = result;
      windows.push({ ...window, rowsTotal, truncated, noData, ...found, decisions });
    }
    return { windows, complete: true };
  } catch (error) {
    if (!simulation.signal.aborted) throw error;
    return { windows, complete: false };
  }
}

/** As in a run: not one that was seen in part, nor one before the first event. */
const teaches = ({ truncated, early }: SearchResult): boolean => !truncated && early !== true;

async function examine({ run, search, now, signal }: Simulation, window: TimeRange) {
  signal.throwIfAborted();
  const asked = { ...window, clock: 'event' as const, ingestedBefore: now };
  const result = await search(run.definition.detectionQuery, asked, searchLimits, signal);
  return { result, prepared: prepareWindow(result.rows, { ...window, aggregate: result.aggregate }, run.analysis) };
}

async function judgeAll(
  { run, now, signal, judge = analyst }: Simulation,
  window: TimeRange,
  { candidates, known }: { candidates: Candidate[]; known: Map<string, Suppression> },
): Promise<Resolution[]> {
  const stored = candidates.map((candidate): StoredCandidate => {
    const { generation } = run.scope;
    return {
      ...candidate,
      id: uuidv7(now),
      runId: run.id,
      late: false,
      windowFrom: window.from,
      windowTo: window.to,
      generation,
      createdAt: now,
      verdict: null,
    };
  });
  const verdictOf = (candidate: StoredCandidate) => judge.judge(candidate, signal);
  const decisions = await resolveCandidates(stored, {
    getScope: () => run,
    known,
    exceptions: [],
    now,
    getVerdict: verdictOf,
  });
  for (const one of decisions)
    if (one.outcome === 'judged' && one.suppression) known.set(one.suppression.key, one.suppression);
  return decisions;
}
