import type { RenderedRow } from '../candidate.ts';
import type { AnalysisDefinition, AnalysisWindow } from '../analysis-definition.ts';
import { memoizePerGroup, type GroupedRow, type EntityGroup } from '../rows/group-rows.ts';
import { findField, parseNumber } from '../rows/fields.ts';
import type { MemoryEntry, RecalledValue } from '../memory/memory.ts';
import { renderRow, computeRowId } from '../rows/render-row.ts';
import { parseDeclaredLength, stepsMax } from './sequence-length.ts';
import { compareSteps, type SequenceStep } from './find-sequences.ts';
import { findRowTime } from '../rows/row-times.ts';
import type { Steps } from '../../../platform/lib/concurrency/slices.ts';

const perStepMax = 100;
const rememberedRowMax = 2_000;

/** A step of the examined window, or an already rendered step remembered from an earlier window. */
export type SequenceRow = SequenceStep & { source: GroupedRow | RenderedRow };

/** Returns a group's rows whose `step` is an integer from 1 to 10, once per ID. A row without a time is placed at the window's start. */
export const extractSequenceRows = memoizePerGroup(function* (
  group,
  window: AnalysisWindow,
  definition: AnalysisDefinition,
): Steps<SequenceRow[]> {
  const byId = new Map<string, SequenceRow>();
  for (const source of group.rows) {
    yield;
    const step = parseNumber(findField(source.row, 'step'));
    if (step === undefined || !Number.isInteger(step) || step < 1 || step > stepsMax) continue;
    // An event that counts as two steps has two rows with one ID.
    const id = `${computeRowId(source.row, window)}/${step}`;
    const row = { step, id, time: findRowTime(source.row, definition.timeField) ?? window.from.getTime(), source };
    const same = byId.get(id);
    if (!same || compareSteps(row, same) < 0) byId.set(id, row);
  }
  return [...byId.values()];
});

/** Returns the number of steps from the `steps` column, else from the query's constants. Undefined if neither defines it. */
export function* findSequenceLength(
  groups: readonly EntityGroup[],
  definition: AnalysisDefinition,
): Steps<number | undefined> {
  let length = 0;
  for (const { rows } of groups) {
    for (const { row } of rows) {
      yield;
      const steps = parseNumber(findField(row, 'steps')) ?? 0;
      if (Number.isInteger(steps) && steps <= stepsMax) length = Math.max(length, steps);
    }
  }
  return length > 0 ? length : parseDeclaredLength(definition.query);
}

/** Returns the latest 100 rows of each step, in order. */
export function keepLatestPerStep<S extends SequenceStep>(rows: readonly S[]): S[] {
  const counts = new Map<number, number>();
  const latest = rows
    .toSorted((a, b) => compareSteps(b, a))
    .filter(({ step }) => {
      const count = (counts.get(step) ?? 0) + 1;
      counts.set(step, count);
      return count <= perStepMax;
    });
  return latest.toReversed();
}

export function toMemoryEntry(entity: string, row: SequenceRow, rendered: RenderedRow): MemoryEntry {
  const value = JSON.stringify({ time: row.time, row: shrinkRow(rendered) });
  return { key: row.id, entity, number: row.step, value };
}

export function parseMemoryValue({ key, value }: RecalledValue): SequenceRow {
  const { time, row } = JSON.parse(value) as { time: number; row: RenderedRow };
  return { step: Number(key.slice(key.lastIndexOf('/') + 1)), time, id: key, source: row };
}

export function renderStep(
  { source }: SequenceRow,
  window: AnalysisWindow,
  definition: AnalysisDefinition,
): RenderedRow {
  return 'fields' in source ? source : renderRow(source.row, window, definition);
}

/** Drops fields beyond 2,000 characters, because rows are remembered for a day. */
function shrinkRow(row: RenderedRow): RenderedRow {
  let size = 0;
  const fields = Object.entries(row.fields).filter(
    ([field, text]) => (size += field.length + text.length) <= rememberedRowMax,
  );
  return { ...row, fields: Object.fromEntries(fields) };
}
