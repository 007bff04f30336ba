import { isSeverityAtLeast, type Severity } from '../candidate.ts';
import { type AnalysisInput, sensitivityOf } from '../category.ts';
import { dayMs, weekMs, type AnalysisDefinition } from '../analysis-definition.ts';
import { computeSettledEnd, type MemoryEntry, type RecalledMemory, type RecalledSummary } from '../memory/memory.ts';
import type { EntityGroup } from '../rows/group-rows.ts';
import { compareSteps, extractSequenceRows } from './sequence-rows.ts';
import type { Steps } from '../../../platform/lib/concurrency/slices.ts';
import type { Sensitivity } from '../tuning.schema.ts';

/** The memory key of the steps that an entity made in a window, in order. */
export const stepsKey = 'steps';
const rememberedStepsMax = 50;

/** A running intrusion must not make its own sequences usual. */
const unsettledMs = dayMs;
export const habitMs = 2 * weekMs + unsettledMs;

export const defaultSequenceHours = 24;
/** Returns the longest time from the first to the last step of a sequence. */
export const sequenceMs = ({ tuning }: Pick<AnalysisDefinition, 'tuning'>): number =>
  (tuning?.sequenceHours ?? defaultSequenceHours) * 3_600_000;

/** How often entities completed all steps before the last day. */
export type SequenceHabit = { completed: number; perWeek: number };

/** Remembers the order of all steps of a window, so that later windows know how often entities complete the sequence. */
export function* rememberSteps({ window, definition }: AnalysisInput, group: EntityGroup): Steps<MemoryEntry[]> {
  const rows = (yield* extractSequenceRows(group, window, definition)).toSorted(compareSteps);
  const steps = rows.map(({ step }) => step).filter((step, index, all) => step !== all[index - 1]);
  if (steps.length === 0) return [];
  const value = JSON.stringify(steps.slice(-rememberedStepsMax));
  return [{ key: stepsKey, entity: group.identity, number: null, value }];
}

/** Counts the windows that completed a sequence of `length` steps for an entity in the two weeks before the last day. */
export function* measureHabit(
  { window, definition, past }: AnalysisInput & { past: RecalledMemory },
  length: number,
): Steps<SequenceHabit> {
  const before = computeSettledEnd(past, window, unsettledMs);
  const oldest = past.windows[0]?.from.getTime() ?? before;
  const settled = past.summaries.filter(({ at }) => at < before);
  const byEntity = Map.groupBy(settled, ({ entity }) => entity);
  let completed = 0;
  for (const summaries of byEntity.values()) {
    yield;
    completed += countCompletions(summaries, { length, spanMs: sequenceMs(definition) });
  }
  const from = Math.max(oldest, window.from.getTime() - habitMs);
  return { completed, perWeek: completed / Math.max((before - from) / weekMs, 1) };
}

function countCompletions(
  summaries: readonly RecalledSummary[],
  { length, spanMs }: { length: number; spanMs: number },
): number {
  let completed = 0;
  // The start of the chain that reached each step.
  let starts: (number | undefined)[] = [];
  for (const { at, value } of summaries) {
    const before = completed;
    for (const step of JSON.parse(value) as number[]) {
      const start = step === 1 ? at : starts[step - 1];
      if (start === undefined || at - start > spanMs) continue;
      starts[step] = start;
      if (step < length) continue;
      starts = [];
      completed = before + 1;
    }
  }
  return completed;
}

/** Completions per week above which a sequence is usual, if it completed at least twice. */
const usualPerWeek: Record<Sensitivity, number> = { low: 0.25, medium: 1, high: Infinity };

/** The first rule that the number of steps reaches applies. */
const severityBySteps = [
  { from: 5, severity: 'critical' },
  { from: 3, severity: 'high' },
  { from: 2, severity: 'medium' },
] as const;

/** Rates a sequence by its steps. If entities usually complete it, it is at most low, or medium if only one did. */
export function rateSequence(
  steps: number,
  { completed, perWeek }: SequenceHabit,
  definition: Pick<AnalysisDefinition, 'tuning'>,
): Severity {
  const severity = severityBySteps.find(({ from }) => steps >= from)?.severity ?? 'low';
  const usualFrom = usualPerWeek[sensitivityOf(definition)];
  const limit = completed >= 2 && perWeek > usualFrom ? 'low' : 'medium';
  return completed === 0 || usualFrom === Infinity || !isSeverityAtLeast(severity, limit) ? severity : limit;
}
