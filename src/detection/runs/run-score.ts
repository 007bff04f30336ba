import { categories } from '../analysis/registry.ts';
import { scoreAnalystRun, type RunScore } from '../verdicts/analyst/analyst-score.ts';
import { scoreModelRun } from '../verdicts/model/model-score.ts';
import type { ActiveRun } from './execution/active-run.ts';
import { sumWindows, type ExaminedWindow, type SuppressedCounts } from './execution/run-progress.ts';

/** Warnings that a criterion of their own covers, or that say nothing about the result. */
const unscoredWarnings = new Set(['learning', 'truncated', 'instructions_unused', 'type_drift']);

/** Scores a run, or returns null if there was nothing to judge. `reviewed` counts the hits of the detection that analysts judged. */
export function scoreRun(run: ActiveRun, reviewed: { total: number; right: number }): RunScore | null {
  const { windows, warnings } = run.progress;
  const { rowsTotal, truncated } = sumWindows(run.progress);
  const candidates = windows.reduce((sum, window) => sum + window.candidates, 0);
  if (candidates === 0) return null;
  if (run.model !== 'analyst') {
    return scoreModelRun(run.progress.judging, countOpenCandidates(windows, run.progress.suppressed));
  }
  const entities = windows.reduce((sum, window) => sum + window.entities, 0);
  const named = windows.reduce((sum, window) => sum + window.entities * window.namedShare, 0);
  return scoreAnalystRun({
    rowsTotal,
    truncated,
    namedShare: entities === 0 ? 1 : named / entities,
    warnings: warnings.filter((warning) => !unscoredWarnings.has(warning.code)).length,
    usesHistory: categories[run.analysis.category].usesHistory,
    learning: warnings.some((warning) => warning.code === 'learning'),
    candidates: windows.flatMap(listCandidateFacts),
    reviewed,
  });
}

/** Counts the candidates that needed a verdict of their own. Suppressed ones may come from an earlier run. */
export function countOpenCandidates(
  windows: Pick<ExaminedWindow, 'candidates'>[],
  { known, exceptions, snoozed, allowed }: SuppressedCounts,
): number {
  const candidates = windows.reduce((sum, window) => sum + window.candidates, 0);
  return Math.max(0, candidates - known - exceptions - snoozed - allowed);
}

function listCandidateFacts({ candidates, enoughPast, candidateRows }: ExaminedWindow) {
  return Array.from({ length: candidates }, (_, index) => ({
    facts: { enoughPast: index < enoughPast, candidateRows: index === 0 ? candidateRows : 0 },
  }));
}
