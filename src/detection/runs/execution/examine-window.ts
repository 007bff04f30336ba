import { inOrg, type Db } from '../../../platform/db/db.ts';
import { runInSlices } from '../../../platform/lib/concurrency/slices.ts';
import type { Candidate } from '../../analysis/candidate.ts';
import { analyzeWindow, computeNamedShare, prepareWindow, type PreparedWindow } from '../../analysis/analyze-window.ts';
import type { WindowResult } from '../../analysis/category.ts';
import { createEmptyRecall, type MemoryEntry, type RecalledMemory } from '../../analysis/memory/memory.ts';
import { recallMemory } from '../../analysis/memory/memory.store.ts';
import type { TimeRange } from '../../scheduling/timeline.ts';
import type { SearchResult } from '../../siem/connector.ts';
import {
  isBeforeCoverage,
  hasTimeLine,
  isTooOldToRaise,
  searchWindow,
  toQueryWindow,
  type RepeatReason,
  type WindowTask,
} from '../run-model/search-window.ts';
import { rememberEarlierSlots, type BaselineDeps } from './backfill-baseline.ts';
import { findLateSlots } from './late-slots.ts';
import { findMemoryEpoch } from './backfill-windows.store.ts';
import type { ActiveRun } from '../run-model/active-run.ts';
import { timePhase, type ExaminedWindow, type RunStep } from '../run-model/run-progress.ts';
import type { ListTest } from '../../analysis/exceptions.ts';
import { listRuleLists } from '../../analysis/severity-rules.ts';
import { describeMissingLists, readListTests } from '../../value-lists/value-lists.store.ts';
import { findResultWarnings } from '../../analysis/result-warnings.ts';

type ExamineDeps = BaselineDeps;

/** The result of examining a window. Nothing of it is stored yet. */
export type Examination = {
  window: TimeRange;
  repeat: RepeatReason | undefined;
  examined: ExaminedWindow;
  candidates: Candidate[];
  /** Each candidate is a single event, of which the detection has one candidate only, whichever run finds it first. */
  ofEvents: boolean;
  /** The memory that later windows are compared with. Null if the category needs no memory or there is nothing to learn from yet. */
  memory: MemoryEntry[] | null;
  /** Version of the past that the window was compared with. */
  epoch: number;
  /** Earlier windows with events that arrived in this one, which must be examined again. */
  lateSlots: TimeRange[];
};

/**
 * Queries and analyzes one window without storing anything of it. Slots before the coverage, whose events arrived in it, are remembered first. A
 * failing query throws a `SiemError`.
 */
export async function* examineWindow(
  deps: ExamineDeps,
  run: ActiveRun,
  task: WindowTask,
  signal: AbortSignal,
): RunStep<Examination> {
  const { repeat, ...window } = task;
  const query = toQueryWindow(run, task, deps.clock());
  const { result, lateSlots } = yield* timePhase('query', async function* () {
    const result = await searchWindow(run, query, signal);
    // A window that is examined again has found its late events the first time.
    const mayBeLate = !repeat && hasTimeLine(run);
    return { result, lateSlots: mayBeLate ? yield* findLateSlots(deps, run, window, signal) : [] };
  });
  const slots = lateSlots.filter((slot) => isBeforeCoverage(run, slot));
  if (slots.length > 0) yield* rememberEarlierSlots(deps, run, { slots, ingestedBefore: window.to }, signal);
  return yield* analyzeResult(deps, run, task, { result, lateSlots });
}

/** Analyzes the result of a window's query without storing anything. */
export function analyzeResult(
  deps: ExamineDeps,
  run: ActiveRun,
  { repeat, ...window }: WindowTask,
  { result, lateSlots }: { result: SearchResult; lateSlots: TimeRange[] },
): RunStep<Examination> {
  return timePhase('analyze', async function* () {
    const prepared = await runInSlices(
      prepareWindow(result.rows, { ...window, aggregate: result.aggregate }, run.analysis),
    );
    yield* reportWindowWarnings(run, result, prepared);
    const { past, epoch } = await recallPast(deps, run, prepared);
    const lists = yield* readRuleLists(deps, run);
    const { candidates: found, learning, dropped } = await runInSlices(analyzeWindow(prepared, past, lists));
    const candidates = isTooOldToRaise(run, window) ? [] : found;
    if (learning) yield { code: 'learning', detail: 'Too few earlier windows are known for a comparison.' };
    if (result.truncated)
      yield {
        code: 'truncated',
        detail: 'The window has more rows than a run reads, so it was examined only in part.',
      };
    return {
      window,
      repeat,
      examined: summarizeWindow(window, result, { prepared, candidates, dropped }),
      candidates,
      ofEvents: run.analysis.continuous === true && !result.aggregate && run.trigger !== 'manual',
      memory: prepared.query.want === 'nothing' || result.early ? null : prepared.memory,
      epoch,
      lateSlots,
    };
  });
}

/** Returns the value lists of the severity rules. Yields a warning about those that do not exist. */
export async function* readRuleLists({ db }: { db: Db }, run: ActiveRun): RunStep<Map<string, ListTest>> {
  const names = listRuleLists(run.analysis.tuning);
  if (names.length === 0) return new Map();
  const lists = await inOrg(db, run.orgId, (tx) => readListTests(tx, run.orgId, names));
  const missing = names.filter((name) => !lists.has(name));
  if (missing.length > 0) yield { code: 'unknown_list', detail: describeMissingLists(missing) };
  return lists;
}

/** Returns what is remembered of the windows before a window, and the version of that past. */
export function recallPast(
  deps: { db: Db },
  run: ActiveRun,
  prepared: PreparedWindow,
): Promise<{ past: RecalledMemory; epoch: number }> {
  if (prepared.query.want === 'nothing') return Promise.resolve({ past: createEmptyRecall(), epoch: 0 });
  return inOrg(deps.db, run.orgId, async (tx) => {
    // Read the epoch first: a change between the two reads is then noticed when the window is committed.
    const epoch = await findMemoryEpoch(tx, run);
    return { past: await recallMemory(tx, run.scope, prepared.window, prepared.query), epoch };
  });
}

function summarizeWindow(
  window: TimeRange,
  result: SearchResult,
  { prepared, candidates, dropped }: { prepared: PreparedWindow } & Pick<WindowResult, 'candidates' | 'dropped'>,
): ExaminedWindow {
  return {
    from: window.from.toISOString(),
    to: window.to.toISOString(),
    rowsTotal: result.total,
    truncated: result.truncated,
    candidates: candidates.length,
    enoughPast: candidates.filter(({ facts }) => facts['enoughPast'] === true).length,
    candidateRows: candidates.reduce((sum, { facts }) => sum + Number(facts['candidateRows'] ?? 0), 0),
    entities: prepared.groups.length,
    namedShare: computeNamedShare(prepared.groups),
    dropped,
  };
}

/** Yields what a window's query result says about the detection, as warnings of a run or of a trial: missing data and missing fields. */
export async function* reportWindowWarnings(
  { analysis }: ActiveRun,
  result: SearchResult,
  { groups }: PreparedWindow,
): RunStep<void> {
  const byCode = Map.groupBy(result.warnings ?? [], ({ code }) => code);
  for (const [code, warnings] of byCode) yield { code, detail: warnings.map(({ detail }) => detail).join(' ') };
  if (result.noData) yield { code: 'no_data', detail: 'The query reads a dataset that never received an event.' };
  const { columns, aggregate } = result;
  yield* await runInSlices(findResultWarnings({ groups, columns, aggregate }, analysis));
}
