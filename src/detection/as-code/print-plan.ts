import { isDeepStrictEqual } from 'node:util';
import type { FieldChange } from './detection-fields-file.ts';
import type { Step } from './plan.ts';

const signs = { create: '+', update: '~', delete: '-', orphan: '?', forget: ' ', same: ' ', conflict: '!' } as const;
const linesMax = 2000;

/** A plan for people: a line per detection that is not as it should be, and below it each field that differs. */
export function printPlan(steps: readonly Step[]): string {
  const told = steps.filter(({ kind }) => kind !== 'same' && kind !== 'forget');
  const count = (kind: Step['kind']): number => steps.filter((step) => step.kind === kind).length;
  const sum = `${count('create')} to create, ${count('update')} to change, ${count('delete')} to delete, ${count('same')} as they are${
    count('conflict') > 0 ? `, ${count('conflict')} in conflict` : ''
  }`;
  return [...told.flatMap(printStep), sum].map(visible).join('\n');
}

/** What a file or the service holds must not move the cursor of a terminal. */
const visible = (line: string): string => line.replaceAll(/[^\P{Cc}\t]/gu, '\uFFFD');

function printStep(step: Step): string[] {
  const head = `${signs[step.kind]} ${step.file}`;
  if (step.kind === 'conflict') return [`${head}: ${step.reason}`, ...step.changes.flatMap(printChange)];
  if (step.kind === 'orphan') return [`${head}: its file is gone; --prune deletes it, pull brings the file back`];
  if (step.kind === 'update') return [head, ...step.changes.flatMap(printChange)];
  return [`${head}${step.kind === 'create' ? `: ${JSON.stringify(step.fields['name'])}` : ''}`];
}

function printChange({ field, before, after }: FieldChange): string[] {
  if (field === 'tests') return [`    ${field}:`, ...printTests(before as Named, after as Named)];
  const isText = [before, after].some((value) => typeof value === 'string' && value.includes('\n'));
  if (!isText) return [`    ${field}: ${show(before)} → ${show(after)}`];
  const lines = diffLines(linesOf(before), linesOf(after));
  return [`    ${field}:`, ...lines.map((line) => `      ${line}`)];
}

type Named = readonly { name: string }[] | undefined;

/** Test cases by name: those that came, left or changed; where only their order did, that. */
function printTests(before: Named = [], after: Named = []): string[] {
  const line = (sign: string, name: string): string => `      ${sign} ${JSON.stringify(name)}`;
  const of = (list: Named = []) => new Map(list.map((test) => [test.name, test]));
  const [old, fresh] = [of(before), of(after)];
  const changed = after.flatMap((test) => {
    const was = old.get(test.name);
    if (!was) return [line('+', test.name)];
    return isDeepStrictEqual(was, test) ? [] : [line('~', test.name)];
  });
  const gone = before.filter(({ name }) => !fresh.has(name)).map(({ name }) => line('-', name));
  const lines = [...gone, ...changed];
  return lines.length > 0 ? lines : ['      in another order'];
}

const show = (value: unknown): string => (value === undefined ? '(default)' : JSON.stringify(value));
const linesOf = (value: unknown): string[] => (typeof value === 'string' ? value.split('\n') : []);

/** Lines that left (`- `) and came (`+ `), by the longest common subsequence; very long texts are shown as replaced. */
export function diffLines(before: string[], after: string[]): string[] {
  if (before.length > linesMax || after.length > linesMax)
    return [`- ${before.length} lines`, `+ ${after.length} lines`];
  const common = lengths(before, after);
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      i += 1;
      j += 1;
    } else if (j >= after.length || (i < before.length && common[i + 1]![j]! >= common[i]![j + 1]!)) {
      lines.push(`- ${before[i]}`);
      i += 1;
    } else {
      lines.push(`+ ${after[j]}`);
      j += 1;
    }
  }
  return lines;
}

function lengths(before: string[], after: string[]): Uint16Array[] {
  const table = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i -= 1)
    for (let j = after.length - 1; j >= 0; j -= 1)
      table[i]![j] =
        before[i] === after[j] ? table[i + 1]![j + 1]! + 1 : Math.max(table[i + 1]![j]!, table[i]![j + 1]!);
  return table;
}
