import { modelScore } from '../verdicts/model/model-score.ts';
import { analystScore, type Score } from '../verdicts/analyst/analyst-score.ts';
import { categories } from '../analysis/registry.ts';
import { totalsOf, type Run } from './run-types.ts';

// What these say is counted by a criterion of its own, or says nothing about the result.
const countedElsewhere = new Set(['learning', 'truncated', 'instructions_unused']);

/** The score of a run by what judged it; null without rows. `reviewed`: what people said of the detection's hits. */
export function scoreOf(run: Run, reviewed: { total: number; right: number }): Score | null {
  const { windows, warnings } = run.progress;
  const { rowsTotal, truncated } = totalsOf(run.progress);
  if (rowsTotal === 0) return null;
  if (run.model !== 'analyst') {
    const candidates = windows.reduce((sum, window) => sum + window.candidates, 0);
    return modelScore(run.progress.judging, candidates);
  }
  const entities = windows.reduce((sum, window) => sum + window.entities, 0);
  const named = windows.reduce((sum, window) => sum + window.entities * window.namedShare, 0);
  return analystScore({
    rowsTotal,
    truncated,
    namedShare: entities === 0 ? 1 : named / entities,
    warnings: warnings.filter((warning) => !countedElsewhere.has(warning.code)).length,
    usesHistory: categories[run.analysis.category].usesHistory,
    learning: warnings.some((warning) => warning.code === 'learning'),
    candidates: windows.flatMap(candidatesOf),
    reviewed,
  });
}

function candidatesOf({ candidates, enoughPast, candidateRows }: Run['progress']['windows'][number]) {
  return Array.from({ length: candidates }, (_, index) => ({
    facts: { enoughPast: index < enoughPast, candidateRows: index === 0 ? candidateRows : 0 },
  }));
}
