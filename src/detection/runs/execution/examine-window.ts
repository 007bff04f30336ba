import type { Candidate } from '../../analysis/candidate.ts';
import { analyseWindow, namedShare, prepareWindow, type PreparedWindow } from '../../analysis/analyze-window.ts';
import { emptyPast, type MemoryEntry, type PastMemory } from '../../analysis/memory/memory.ts';
import { recallMemory } from '../../analysis/memory/memory.store.ts';
import { inOrgByKey } from '../../../platform/db/db.ts';
import type { QueryWindow, SearchResult } from '../../siem/connector.ts';
import { findMemoryEpoch } from '../backfill/revisits.store.ts';
import { searchLimits } from './search-limits.ts';
import { timed, warn, type ExaminedWindow, type Run, type RunDeps } from '../run-types.ts';

/** What examining a window gave, nothing of it stored yet. `memory` null: the category keeps none, or there is nothing to learn from yet. */
export type Examination = {
  window: { from: Date; to: Date };
  examined: ExaminedWindow;
  candidates: Candidate[];
  memory: MemoryEntry[] | null;
  /** The state of the past that it was compared with. */
  epoch: number;
  /** A window that was examined before, looked at again since the past changed, or since late rows may have come. */
  again: boolean;
  recheck: boolean;
};

/** A window to examine. `again`: it was examined before, and the past has changed since; `recheck`: late rows may have come. */
export type WindowTask = { from: Date; to: Date; again?: boolean; recheck?: boolean };

/** Asks one window's question, groups, recalls and analyses. Reads only; a failing query throws a SiemError. */
export async function examineWindow(
  deps: RunDeps,
  run: Run,
  { again = false, recheck = false, ...window }: WindowTask,
  signal: AbortSignal,
): Promise<Examination> {
  const query: QueryWindow = {
    ...window,
    clock: run.clock,
    ...(run.clock === 'event' ? { ingestedBefore: deps.clock() } : {}),
  };
  const result = await timed(run.progress, 'query', () => search(run, query, signal));
  const [told] = result.warnings ?? [];
  if (result.noData) warn(run.progress, 'no_data', told ?? 'A dataset that the query names never had an event.');
  else if (told !== undefined) warn(run.progress, 'query', told);
  return timed(run.progress, 'analyse', async () => {
    const prepared = prepareWindow(result.rows, { ...window, aggregate: result.aggregate }, run.analysis);
    const { past, epoch } = await recall(deps, run, prepared);
    const found = analyseWindow(prepared, past);
    if (found.learning) warn(run.progress, 'learning', 'Too few earlier windows are known to compare with.');
    if (result.truncated)
      warn(run.progress, 'truncated', 'The window held more rows than are read; it was covered in part.');
    return {
      window,
      examined: summaryOf(window, result, { prepared, candidates: found.candidates }),
      candidates: found.candidates,
      memory: prepared.query.want === 'nothing' || result.early ? null : prepared.memory,
      epoch,
      again,
      recheck,
    };
  });
}

/** One query over one window, within the limits of every run. */
export function search(run: Run, window: QueryWindow, signal: AbortSignal): Promise<SearchResult> {
  signal.throwIfAborted();
  return run.connection.search(run.definition.detectionQuery, window, searchLimits, signal);
}

type Recalled = { past: PastMemory; epoch: number };

function recall(deps: RunDeps, run: Run, prepared: PreparedWindow): Promise<Recalled> {
  if (prepared.query.want === 'nothing') return Promise.resolve({ past: emptyPast(), epoch: 0 });
  return inOrgByKey(deps.db, run.orgId, async (tx) => {
    // The epoch first: a change in between is then seen when the window is stored.
    const epoch = await findMemoryEpoch(tx, run);
    return { past: await recallMemory(tx, run.scope, prepared.window, prepared.query), epoch };
  });
}

function summaryOf(
  window: { from: Date; to: Date },
  result: SearchResult,
  { prepared, candidates }: { prepared: PreparedWindow; candidates: Candidate[] },
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
    namedShare: namedShare(prepared.groups),
  };
}
