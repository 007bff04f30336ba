import { categories } from '../registry.ts';
import type { AnalysisDefinition } from '../analysis-definition.ts';
import { learningWindows, type PastWindow } from './memory.ts';

/**
 * The windows to analyse again after `late` was examined out of turn, in order. `done` are the examined windows of the same
 * generation (with or without `late`). Those are: every later window that has `late` within its reach, and the one whose
 * number of earlier windows rose to just enough to end the learning mode.
 */
export function windowsToRevisit(
  late: PastWindow,
  done: readonly PastWindow[],
  definition: AnalysisDefinition,
): PastWindow[] {
  const { reachMs, usesHistory } = categories[definition.category];
  const reach = reachMs(definition);
  const others = done.filter((window) => window.from.getTime() !== late.from.getTime());
  const ends = [...others, late].map((window) => window.to.getTime());
  return others
    .filter((window) => window.from >= late.to)
    .filter(
      (window) => isReached(window, late, reach) || (usesHistory && countUpTo(ends, window.from) === learningWindows),
    )
    .toSorted((a, b) => a.from.getTime() - b.from.getTime());
}

function isReached(window: PastWindow, late: PastWindow, reachMs: number): boolean {
  return late.from.getTime() >= window.from.getTime() - reachMs;
}

/** How many have ended at `time`; counting stops past what matters. */
function countUpTo(ends: readonly number[], time: Date): number {
  let count = 0;
  for (const end of ends) if (end <= time.getTime() && ++count > learningWindows) break;
  return count;
}
