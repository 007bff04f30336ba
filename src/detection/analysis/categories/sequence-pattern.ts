import { type Steps, mapInSteps } from '../../../platform/lib/concurrency/slices.ts';
import { compareCodeUnits } from '../../../platform/lib/text/canonical-text.ts';
import type { AnalysisDefinition } from '../analysis-definition.ts';
import { buildCandidate, orderRows } from '../build-candidate.ts';
import type { Candidate } from '../candidate.ts';
import { type AnalysisInput, type Category, type Finding, rowsMin } from '../category.ts';
import { type MemoryEntry, type RecalledMemory, type RecalledValue, computeLookbackStart } from '../memory/memory.ts';
import type { EntityGroup, GroupedRow } from '../rows/group-rows.ts';
import { describeSteps, describeTimeRange, numberOf, quoteCharsMax, quoteValues, readNumber } from '../wording.ts';
import {
  extractSequenceRows,
  findSequenceLength,
  findSequences,
  keepLatestPerStep,
  parseMemoryValue,
  renderStep,
  type SequenceRow,
  type SequenceShape,
  toMemoryEntry,
} from './sequence-rows.ts';
import {
  type SequenceHabit,
  defaultSequenceHours,
  habitMs,
  measureHabit,
  rateSequence,
  rememberSteps,
  sequenceMs,
  stepsKey,
} from './rate-sequence.ts';

const rowsMax = 50;

/** Finds entities whose rows complete all steps of a sequence in order within 24 hours, or `tuning.sequenceHours`. */
export const sequencePattern: Category = {
  label: 'Sequence',
  description: 'An entity is judged when it completes the steps in order within a day.',
  usesHistory: false,
  lookbackMs,
  *buildMemory(input) {
    const length = yield* findSequenceLength(input.groups, input.definition);
    const entries: MemoryEntry[][] = [];
    for (const group of input.groups)
      entries.push(yield* rememberGroup(input, group, length), yield* rememberSteps(input, group));
    return entries.flat();
  },
  *buildMemoryQuery(input) {
    const entities: string[] = [];
    for (const group of input.groups)
      if ((yield* extractSequenceRows(group, input.window, input.definition)).length > 0) entities.push(group.identity);
    return {
      want: 'values',
      since: computeLookbackStart(input.window, lookbackMs(input.definition)),
      valuesSince: computeLookbackStart(input.window, keptMs(input.definition)),
      entities,
      summaryKey: stepsKey,
    };
  },
  *findCandidates(input) {
    return { learning: false, findings: yield* findCandidates(input) };
  },
  neededColumns: [
    {
      column: 'step',
      code: 'no_steps',
      detail: 'No row has a `step` column. Return it with the step number, starting at 1.',
    },
  ],
  needsRowTimes: true,
  tuning: {
    defaults: { sensitivity: 'medium', minimumCount: 1, sequenceHours: defaultSequenceHours },
    remembered: ['sequenceHours'],
    instead: {},
  },
  judgesEachKind: false,
  confidence: (facts) => 50 + 10 * numberOf(facts, 'steps'),
  describeHeadline({ facts, subject, listActions }) {
    const actions = quoteValues(listActions(), quoteCharsMax.action).join(', ');
    return `${subject.plain} completed ${describeSteps(facts)} in order${actions === '' ? '' : ` (${actions})`}`;
  },
  describeFinding: ({ facts, subject: { quoted, start } }) => ({
    finding: `${start} completed ${describeSteps(facts)} in order, from ${describeTimeRange(facts, 'firstStepAt', 'lastStepAt')}`,
    details: facts['sequences'] === 1 ? [] : [`The sequence was completed ${readNumber(facts, 'sequences')} times.`],
    nextStep: `Review the steps in order, find out who or what acted as ${quoted}, and contain it unless every step was intended.`,
  }),
  evidenceNote: '',
  followUps: ['same_address', 'what_else', 'related_hits', 'known_here', 'known_to_feed', 'where_from'],
  draft: { rule: 'a column step from 1', hasFewColumns: false, findsInFirstWindow: true },
};

/** Looks back over a sequence, as far again for late steps, and over the window that contains the oldest of them. */
const keptMs = (definition: AnalysisDefinition): number => 2 * sequenceMs(definition) + definition.slotMs;

function lookbackMs(definition: AnalysisDefinition): number {
  return Math.max(keptMs(definition), habitMs);
}

/** Remembers the steps that the window does not complete. Completed steps are consumed regardless of earlier windows. */
function* rememberGroup(
  { window, definition }: AnalysisInput,
  group: EntityGroup,
  length: number | undefined,
): Steps<MemoryEntry[]> {
  const rows = yield* extractSequenceRows(group, window, definition);
  const rest = length === undefined ? rows : findSequences(rows, { length, spanMs: sequenceMs(definition) }).rest;
  return yield* mapInSteps(keepLatestPerStep(rest), (row) =>
    toMemoryEntry(group.identity, row, renderStep(row, window, definition)),
  );
}

function* findCandidates(input: AnalysisInput & { past: RecalledMemory }): Steps<Finding[]> {
  const rowsOf = new Map<EntityGroup, SequenceRow[]>();
  for (const group of input.groups)
    rowsOf.set(group, yield* extractSequenceRows(group, input.window, input.definition));
  const length =
    (yield* findSequenceLength(input.groups, input.definition)) ??
    (yield* findLargestStep(rowsOf.values(), input.past));
  if (length === undefined) return [];
  const countMin = Math.max(1, rowsMin(input.definition));
  const habit = yield* measureHabit(input, length);
  const shape = { length, spanMs: sequenceMs(input.definition) };
  const findings: Finding[] = [];
  for (const [group, rows] of rowsOf) {
    yield;
    const chains = rows.length > 0 ? findNewSequences(rows, input.past.values.get(group.identity) ?? [], shape) : [];
    if (chains.length === 0) continue;
    if (chains.length < countMin) findings.push('belowMinimum');
    else findings.push(yield* toCandidate(input, group, { chains, habit }));
  }
  return findings;
}

/** Returns the largest step seen, as the length of undeclared sequences. A single step is no sequence. */
function* findLargestStep(rowLists: Iterable<SequenceRow[]>, { values }: RecalledMemory): Steps<number | undefined> {
  let largest = 0;
  for (const rows of rowLists) for (const { step } of rows) largest = Math.max(largest, step);
  for (const list of values.values()) {
    yield;
    for (const value of list) largest = Math.max(largest, parseMemoryValue(value).step);
  }
  return largest >= 2 ? largest : undefined;
}

/** Replays the remembered windows, so that their completed rows stay consumed, and returns the sequences that `rows` complete. */
function findNewSequences(
  rows: readonly SequenceRow[],
  remembered: readonly RecalledValue[],
  shape: SequenceShape,
): SequenceRow[][] {
  const byWindow = Map.groupBy(remembered, ({ at }) => at);
  let pool: SequenceRow[] = [];
  for (const [, values] of [...byWindow].toSorted(([a], [b]) => a - b)) {
    pool = keepLatestPerStep(findSequences(mergeRows(pool, values.map(parseMemoryValue)), shape).rest);
  }
  // The pool alone completes nothing more, so each sequence contains a row of this window.
  return findSequences(mergeRows(pool, rows), shape).chains;
}

/** Merges rows by ID. A row of `rows` replaces the one in the pool. */
function mergeRows(pool: readonly SequenceRow[], rows: readonly SequenceRow[]): SequenceRow[] {
  return [...new Map([...pool, ...rows].map((row) => [row.id, row])).values()];
}

function* toCandidate(
  input: AnalysisInput,
  group: EntityGroup,
  { chains, habit }: { chains: readonly SequenceRow[][]; habit: SequenceHabit },
): Steps<Candidate> {
  const { window, definition } = input;
  const ordered = chains.toSorted((a, b) => a[0]!.time - b[0]!.time || compareCodeUnits(a[0]!.id, b[0]!.id));
  const first = ordered[0]!;
  const steps = ordered.flat();
  const candidate = yield* buildCandidate(input, group, {
    kindKey: `sequence_pattern:${first[0]!.id}`,
    severity: rateSequence(first.length, habit, definition),
    rows: steps.flatMap(({ source }) => ('fields' in source ? toGroupedRow(source.fields, group) : source)),
    facts: {
      count: chains.length,
      steps: first.length,
      sequences: chains.length,
      usualPerWeek: Math.round(10 * habit.perWeek) / 10,
      firstStepAt: new Date(first[0]!.time).toISOString(),
      lastStepAt: new Date(first.at(-1)!.time).toISOString(),
      minutes: Math.round((first.at(-1)!.time - first[0]!.time) / 60_000),
      keptSteps: steps.filter(({ source }) => 'fields' in source).length,
    },
  });
  const rows = yield* mapInSteps(steps.slice(0, rowsMax), (step) => ({
    row: renderStep(step, window, definition),
    time: step.time,
  }));
  return { ...candidate, rows: orderRows(rows) };
}

/** Converts a remembered row to a grouped row, from which the facts are read. */
function toGroupedRow(fields: Record<string, string>, group: EntityGroup): GroupedRow {
  return { row: fields, field: group.rows[0]?.field ?? null };
}
