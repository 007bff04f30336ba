import type { Steps } from '../../../platform/lib/concurrency/slices.ts';
import { compareCodeUnits } from '../../../platform/lib/text/canonical-text.ts';
import type { AnalysisDefinition, AnalysisWindow } from '../analysis-definition.ts';
import type { RenderedRow } from '../candidate.ts';
import type { MemoryEntry, RecalledValue } from '../memory/memory.ts';
import { findField, parseNumber } from '../rows/fields.ts';
import { type EntityGroup, type GroupedRow, memoizePerGroup } from '../rows/group-rows.ts';
import { computeRowId, renderRow } from '../rows/render-row.ts';
import { findRowTime } from '../rows/row-times.ts';

/** One step of a sequence. `time` is in epoch milliseconds, with the microseconds as their fraction. `id` is unique. */
export type SequenceStep = { step: number; time: number; id: string };

/** The number of steps, and the longest time from the first to the last of them. */
export type SequenceShape = { length: number; spanMs: number };

type Chain<S extends SequenceStep> = S[];

/**
 * Finds completed sequences: rows of steps 1, 2, … `length`, ordered by time (then step, then ID), within `spanMs`. A row extends the chain
 * that began last. Older chains therefore never take rows from newer ones, and the result does not depend on how much history is read.
 * The rows of a completed sequence are consumed. `rest` contains the others.
 */
export function findSequences<S extends SequenceStep>(
  rows: readonly S[],
  { length, spanMs }: SequenceShape,
): { chains: Chain<S>[]; rest: S[] } {
  const open: Chain<S>[][] = Array.from({ length: length + 1 }, () => []);
  const chains: Chain<S>[] = [];
  for (const row of rows.toSorted(compareSteps)) {
    if (row.step > length) continue;
    const chain = row.step === 1 ? [] : takeNewest(open[row.step - 1]!, row.time - spanMs);
    if (!chain) continue;
    chain.push(row);
    if (row.step === length) chains.push(chain);
    else push(open[row.step]!, chain);
  }
  const consumed = new Set(chains.flat());
  return { chains, rest: rows.filter((row) => !consumed.has(row)) };
}

export function compareSteps(a: SequenceStep, b: SequenceStep): number {
  return a.time - b.time || a.step - b.step || compareCodeUnits(a.id, b.id);
}

/** Removes and returns the open chain that began last. If it began before `since`, all did, and the heap is cleared. */
function takeNewest<S extends SequenceStep>(heap: Chain<S>[], since: number): Chain<S> | undefined {
  const newest = heap[0];
  if (!newest) return undefined;
  if (newest[0]!.time < since) {
    heap.length = 0;
    return undefined;
  }
  const last = heap.pop()!;
  if (heap.length > 0) {
    heap[0] = last;
    sink(heap);
  }
  return newest;
}

function isNewer(a: Chain<SequenceStep>, b: Chain<SequenceStep>): boolean {
  return compareSteps(a[0]!, b[0]!) > 0;
}

/** Adds a chain to the heap. A heap, because one window may have 100,000 open chains. */
function push<S extends SequenceStep>(heap: Chain<S>[], chain: Chain<S>): void {
  let at = heap.push(chain) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!isNewer(heap[at]!, heap[parent]!)) return;
    [heap[at], heap[parent]] = [heap[parent]!, heap[at]!];
    at = parent;
  }
}

function sink(heap: Chain<SequenceStep>[]): void {
  let at = 0;
  for (;;) {
    const [left, right] = [2 * at + 1, 2 * at + 2];
    let top = at;
    if (left < heap.length && isNewer(heap[left]!, heap[top]!)) top = left;
    if (right < heap.length && isNewer(heap[right]!, heap[top]!)) top = right;
    if (top === at) return;
    [heap[at], heap[top]] = [heap[top]!, heap[at]!];
    at = top;
  }
}

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

const stepsMax = 10;

/**
 * Returns the number of steps that a query declares: the largest constant from 1 to 10 that it assigns to the column `step`, as in
 * `2 AS step`, `CASE … THEN 3 … END AS step`, `step = 3` or `step = case(…, 3)`. Returns undefined if there is none.
 */
export function parseDeclaredLength(query: string): number | undefined {
  const text = removeStrings(query);
  const numbers = [...findLiterals(text), ...findCaseBranches(text), ...findCallBranches(text)].map(Number);
  const steps = numbers.filter((number) => number >= 1 && number <= stepsMax);
  return steps.length > 0 ? Math.max(...steps) : undefined;
}

const columnEnd = String.raw`\s+as\s+["\`\[]?step["\`\]]?(?!\w)`;

function findLiterals(text: string): string[] {
  const aliased = [...text.matchAll(new RegExp(String.raw`\b(\d{1,2})(?:::\w+)?${columnEnd}`, 'gi'))];
  const assigned = [...text.matchAll(/\bstep\s*=\s*(\d{1,2})\b/gi)];
  return [...aliased, ...assigned].map((match) => match[1]!);
}

/** Returns the THEN and ELSE constants of each CASE that ends with `AS step`. */
function findCaseBranches(text: string): string[] {
  const ends = [...text.matchAll(new RegExp(String.raw`\bend\b(?:\s*\))*${columnEnd}`, 'gi'))];
  return ends.flatMap((end) => {
    const body = text.slice(findCaseStart(text, end.index), end.index);
    return [...body.matchAll(/\b(?:then|else)\s+\(?\s*(\d{1,2})\b/gi)].map((match) => match[1]!);
  });
}

function findCaseStart(text: string, end: number): number {
  let depth = 1;
  const words = [...text.slice(0, end).matchAll(/\b(?:case|end)\b/gi)].toReversed();
  for (const word of words) {
    depth += word[0].toLowerCase() === 'end' ? 1 : -1;
    if (depth === 0) return word.index;
  }
  return 0;
}

/** Returns the constant arguments of `step = case(a, 1, b, 2)`, as in Splunk and Kusto. */
function findCallBranches(text: string): string[] {
  return [...text.matchAll(/\bstep\s*=\s*(?:case|if|iff|iif)\s*\(/gi)].flatMap((call) => {
    const parts: string[] = [''];
    let depth = 1;
    for (const char of text.slice(call.index + call[0].length)) {
      if (char === '(') depth++;
      if (char === ')') depth--;
      if (depth === 0) break;
      if (char === ',' && depth === 1) parts.push('');
      else parts[parts.length - 1] += char;
    }
    return parts.map((part) => part.trim()).filter((part) => /^\d{1,2}$/.test(part));
  });
}

/** Removes comments and quoted text, but keeps a quoted column `step`. */
function removeStrings(query: string): string {
  return query
    .replaceAll(/--[^\n]*|\/\*[^]*?\*\//g, ' ')
    .replaceAll(/'(?:[^']|'')*'/g, "''")
    .replaceAll(/"(?!step")(?:[^"]|"")*"/gi, '""');
}
