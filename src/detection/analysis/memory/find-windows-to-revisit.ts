import { categories } from '../registry.ts';
import type { AnalysisDefinition } from '../analysis-definition.ts';
import { learningWindows, type MemoryWindow } from './memory.ts';

/**
 * Returns the windows to analyze again after the window `late` was examined out of order, sorted by start: every later window with `late`
 * in its lookback, and the window for which `late` completes the learning period. `examined` are the examined windows of the generation,
 * with or without `late`.
 */
export function findWindowsToRevisit(
  late: MemoryWindow,
  examined: readonly MemoryWindow[],
  definition: AnalysisDefinition,
): MemoryWindow[] {
  const { lookbackMs, usesHistory } = categories[definition.category];
  const lookback = lookbackMs(definition);
  const others = examined.filter((window) => window.from.getTime() !== late.from.getTime());
  const ends = [...others, late].map((window) => window.to.getTime());
  const seesLate = ({ from }: MemoryWindow): boolean => late.from.getTime() >= from.getTime() - lookback;
  const endsLearning = ({ from }: MemoryWindow): boolean => usesHistory && countEnded(ends, from) === learningWindows;
  return others
    .filter((window) => window.from >= late.to && (seesLate(window) || endsLearning(window)))
    .toSorted((a, b) => a.from.getTime() - b.from.getTime());
}

/** Counts the windows that ended by `time`, but no further than one above `learningWindows`. */
function countEnded(ends: readonly number[], time: Date): number {
  let count = 0;
  for (const end of ends) if (end <= time.getTime() && ++count > learningWindows) break;
  return count;
}
