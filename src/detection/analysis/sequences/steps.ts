import type { RenderedRow } from '../candidate.ts';
import type { AnalysisDefinition, AnalysisWindow } from '../analysis-definition.ts';
import { oncePerGroup, type EntityRow, type Group } from '../rows/group-rows.ts';
import { lookup, numberIn } from '../rows/fields.ts';
import type { MemoryEntry, PastValue } from '../memory/memory.ts';
import { renderRow, rowIdOf } from '../rows/render.ts';
import { declaredSteps, stepsMax } from './sequence-length.ts';
import { compareSteps, type Step } from './sequences.ts';
import { timeOf } from '../rows/times.ts';

const perStepMax = 100;
const keptRowMax = 2_000;

/** A step row of this window, or one kept from an earlier one (then already rendered). */
export type StepRow = Step & { source: EntityRow | RenderedRow };

/** The step rows of a group: those whose `step` is a whole number from 1 to 10. The same id twice counts once; without a time a row stands at the window's start. */
export const stepRowsOf = oncePerGroup((group, window: AnalysisWindow, definition: AnalysisDefinition): StepRow[] => {
  const byId = new Map<string, StepRow>();
  for (const source of group.rows) {
    const step = numberIn(lookup(source.row, 'step'));
    if (step === undefined || !Number.isInteger(step) || step < 1 || step > stepsMax) continue;
    const iso = timeOf(source.row, definition.timeField);
    // An event that is two steps at once has two rows under one id.
    const id = `${rowIdOf(source.row, window)}/${step}`;
    const row = { step, id, time: iso === null ? window.from.getTime() : Date.parse(iso), source };
    const same = byId.get(id);
    if (!same || compareSteps(row, same) < 0) byId.set(id, row);
  }
  return [...byId.values()];
});

/** How many steps make the sequence, as far as this window and the query tell: a `steps` column, else the query's own constants. */
export function lengthOf(groups: readonly Group[], definition: AnalysisDefinition): number | undefined {
  let given = 0;
  for (const { rows } of groups) {
    for (const { row } of rows) {
      const steps = numberIn(lookup(row, 'steps')) ?? 0;
      if (Number.isInteger(steps) && steps <= stepsMax) given = Math.max(given, steps);
    }
  }
  return given > 0 ? given : declaredSteps(definition.query);
}

/** The latest 100 of each step, in order. */
export function latestOfEachStep<S extends Step>(rows: readonly S[]): S[] {
  const counts = new Map<number, number>();
  const kept = rows
    .toSorted((a, b) => compareSteps(b, a))
    .filter(({ step }) => {
      const count = (counts.get(step) ?? 0) + 1;
      counts.set(step, count);
      return count <= perStepMax;
    });
  return kept.toReversed();
}

export function toMemory(entity: string, row: StepRow, rendered: RenderedRow): MemoryEntry {
  const value = JSON.stringify({ time: row.time, row: shrink(rendered) });
  return { key: row.id, entity, number: row.step, value };
}

export function fromMemory({ key, value }: PastValue): StepRow {
  const { time, row } = JSON.parse(value) as { time: number; row: RenderedRow };
  return { step: Number(key.slice(key.lastIndexOf('/') + 1)), time, id: key, source: row };
}

/** The row as shown, whichever window it came from. */
export function renderStep({ source }: StepRow, window: AnalysisWindow, definition: AnalysisDefinition): RenderedRow {
  return 'fields' in source ? source : renderRow(source.row, window, definition);
}

/** What is kept for a day must stay small. */
function shrink(row: RenderedRow): RenderedRow {
  let size = 0;
  const fields = Object.entries(row.fields).filter(
    ([field, text]) => (size += field.length + text.length) <= keptRowMax,
  );
  return { ...row, fields: Object.fromEntries(fields) };
}
