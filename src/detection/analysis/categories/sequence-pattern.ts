import type { Candidate } from '../candidate.ts';
import { buildCandidate, keepApart } from '../build-candidate.ts';
import type { AnalysisInput, CategoryAnalysis } from '../category.ts';
import { type AnalysisDefinition, dayMs } from '../analysis-definition.ts';
import type { EntityRow, Group } from '../rows/group-rows.ts';
import { sinceOf, type MemoryEntry, type PastMemory, type PastValue } from '../memory/memory.ts';
import { compareRows } from '../rows/render.ts';
import { completeSequences } from '../sequences/sequences.ts';
import { sequenceSeverity } from '../severity.ts';
import {
  fromMemory,
  latestOfEachStep,
  lengthOf,
  renderStep,
  stepRowsOf,
  toMemory,
  type StepRow,
} from '../sequences/steps.ts';
import { compareCodeUnits } from '../../../platform/lib/text/canonical-text.ts';

const rowsMax = 50;

/** An entity's rows run through all steps in order within 24 hours. */
export const sequencePattern: CategoryAnalysis = {
  usesHistory: false,
  reachMs,
  remember: (input) => {
    const length = lengthOf(input.groups, input.definition);
    return input.groups.flatMap((group) => rememberGroup(input, group, length));
  },
  recall: (input) => ({
    want: 'values',
    since: sinceOf(input.window, reachMs(input.definition)),
    entities: input.groups
      .filter((group) => stepRowsOf(group, input.window, input.definition).length > 0)
      .map(({ entity }) => entity),
  }),
  candidates: (input) => ({ learning: false, candidates: findCandidates(input) }),
};

/** A day for the sequence, another for steps that were logged late, and the window in which the oldest of them lies. */
function reachMs({ slotMs }: AnalysisDefinition): number {
  return 2 * dayMs + slotMs;
}

/** Steps that this window completed by itself are consumed whatever lies before it, so they are not kept. */
function rememberGroup({ window, definition }: AnalysisInput, group: Group, length: number | undefined): MemoryEntry[] {
  const own = stepRowsOf(group, window, definition);
  const left = length === undefined ? own : completeSequences(own, length).rest;
  return latestOfEachStep(left).map((row) => toMemory(group.entity, row, renderStep(row, window, definition)));
}

function findCandidates(input: AnalysisInput & { past: PastMemory }): Candidate[] {
  const steps = new Map(input.groups.map((group) => [group, stepRowsOf(group, input.window, input.definition)]));
  const length = lengthOf(input.groups, input.definition) ?? longestSeen(steps, input.past);
  if (length === undefined) return [];
  return input.groups.flatMap((group) => {
    const own = steps.get(group) ?? [];
    const chains = own.length > 0 ? newSequences(own, input.past.values.get(group.entity) ?? [], length) : [];
    return chains.length > 0 ? [candidateOf(input, group, chains)] : [];
  });
}

/** The largest step seen, where nothing declares the length; one step alone is no sequence then. */
function longestSeen(steps: Map<Group, StepRow[]>, { values }: PastMemory): number | undefined {
  let longest = 0;
  for (const rows of steps.values()) for (const { step } of rows) longest = Math.max(longest, step);
  for (const kept of values.values()) for (const value of kept) longest = Math.max(longest, fromMemory(value).step);
  return longest >= 2 ? longest : undefined;
}

/** Goes once more through the windows within reach, so that what they consumed stays consumed, and tells what this window's rows complete. */
function newSequences(own: readonly StepRow[], kept: readonly PastValue[], length: number): StepRow[][] {
  const byWindow = Map.groupBy(kept, ({ at }) => at);
  let pool: StepRow[] = [];
  for (const [, values] of [...byWindow].toSorted(([a], [b]) => a - b)) {
    pool = latestOfEachStep(completeSequences(merge(pool, values.map(fromMemory)), length).rest);
  }
  // The pool completes nothing by itself any more: each of these has a row of this window.
  return completeSequences(merge(pool, own), length).chains;
}

/** A row that came again takes the place of the one kept. */
function merge(pool: readonly StepRow[], rows: readonly StepRow[]): StepRow[] {
  return [...new Map([...pool, ...rows].map((row) => [row.id, row])).values()];
}

function candidateOf(input: AnalysisInput, group: Group, chains: readonly StepRow[][]): Candidate {
  const { window, definition } = input;
  const ordered = chains.toSorted((a, b) => a[0]!.time - b[0]!.time || compareCodeUnits(a[0]!.id, b[0]!.id));
  const first = ordered[0]!;
  const steps = ordered.flat();
  const built = buildCandidate(input, group, {
    kindKey: `sequence_pattern:${first[0]!.id}`,
    severity: sequenceSeverity(first.length),
    rows: steps.flatMap(({ source }) => ('fields' in source ? asEntityRow(source.fields, group) : source)),
    facts: {
      count: chains.length,
      steps: first.length,
      sequences: chains.length,
      firstStepAt: new Date(first[0]!.time).toISOString(),
      lastStepAt: new Date(first.at(-1)!.time).toISOString(),
      minutes: Math.round((first.at(-1)!.time - first[0]!.time) / 60_000),
      keptSteps: steps.filter(({ source }) => 'fields' in source).length,
    },
  });
  const rows = keepApart(steps.slice(0, rowsMax).map((row) => renderStep(row, window, definition)));
  return { ...built, rows: rows.toSorted(compareRows) };
}

/** A kept row as a row again, for what the facts read from it. */
function asEntityRow(fields: Record<string, string>, group: Group): EntityRow {
  return { row: fields, field: group.rows[0]?.field ?? null };
}
