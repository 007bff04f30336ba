import { isDeepStrictEqual } from 'node:util';
import type { FieldChange } from './file-fields.ts';
import type { PlanStep } from './plan.ts';

const signs = { create: '+', update: '~', delete: '-', orphan: '?', forget: ' ', same: ' ', conflict: '!' } as const;
const linesMax = 2000;

/** Renders a plan as text: a line for each detection that differs, followed by its changed fields. */
export function renderPlan(steps: readonly PlanStep[]): string {
  const shown = steps.filter(({ kind }) => kind !== 'same' && kind !== 'forget');
  const count = (kind: PlanStep['kind']): number => steps.filter((step) => step.kind === kind).length;
  const conflicts = count('conflict') > 0 ? `, ${count('conflict')} in conflict` : '';
  const summary = `${count('create')} to create, ${count('update')} to change, ${count('delete')} to delete, ${count('same')} unchanged${conflicts}`;
  return [...shown.flatMap(renderStep), summary].map(escapeControls).join('\n');
}

/** Replaces control characters, so that text from a file or the service cannot control the terminal. */
const escapeControls = (line: string): string => line.replaceAll(/[^\P{Cc}\t]/gu, '\uFFFD');

function renderStep(step: PlanStep): string[] {
  const head = `${signs[step.kind]} ${step.file}`;
  if (step.kind === 'conflict') return [`${head}: ${step.reason}`, ...step.changes.flatMap(renderChange)];
  if (step.kind === 'orphan')
    return [`${head}: its file was removed; use --prune to delete the detection, or pull to restore the file`];
  if (step.kind === 'update') return [head, ...step.changes.flatMap(renderChange)];
  return [`${head}${step.kind === 'create' ? `: ${JSON.stringify(step.fields['name'])}` : ''}`];
}

function renderChange({ field, before, after }: FieldChange): string[] {
  if (field === 'tests') return [`    ${field}:`, ...renderTests(before as NamedTests, after as NamedTests)];
  const isText = [before, after].some((value) => typeof value === 'string' && value.includes('\n'));
  if (!isText) return [`    ${field}: ${renderValue(before)} → ${renderValue(after)}`];
  const lines = diffLines(splitLines(before), splitLines(after));
  return [`    ${field}:`, ...lines.map((line) => `      ${line}`)];
}

type NamedTests = readonly { name: string }[] | undefined;

/** Renders test cases that were added, removed or changed, by name. */
function renderTests(before: NamedTests = [], after: NamedTests = []): string[] {
  const line = (sign: string, name: string): string => `      ${sign} ${JSON.stringify(name)}`;
  const byName = (list: NamedTests = []) => new Map(list.map((test) => [test.name, test]));
  const [oldTests, newTests] = [byName(before), byName(after)];
  const addedOrChanged = after.flatMap((test) => {
    const oldTest = oldTests.get(test.name);
    if (!oldTest) return [line('+', test.name)];
    return isDeepStrictEqual(oldTest, test) ? [] : [line('~', test.name)];
  });
  const removed = before.filter(({ name }) => !newTests.has(name)).map(({ name }) => line('-', name));
  const lines = [...removed, ...addedOrChanged];
  return lines.length > 0 ? lines : ['      in a different order'];
}

const renderValue = (value: unknown): string => (value === undefined ? '(default)' : JSON.stringify(value));
const splitLines = (value: unknown): string[] => (typeof value === 'string' ? value.split('\n') : []);

/**
 * Returns removed (`- `) and added (`+ `) lines, based on the longest common subsequence. Texts of more than 2000 lines are
 * shown as replaced.
 */
export function diffLines(before: string[], after: string[]): string[] {
  if (before.length > linesMax || after.length > linesMax)
    return [`- ${before.length} lines`, `+ ${after.length} lines`];
  const common = commonLengths(before, after);
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

/** Returns the length of the longest common subsequence of `before` from line i and `after` from line j. */
function commonLengths(before: string[], after: string[]): Uint16Array[] {
  const table = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i -= 1)
    for (let j = after.length - 1; j >= 0; j -= 1)
      table[i]![j] =
        before[i] === after[j] ? table[i + 1]![j + 1]! + 1 : Math.max(table[i + 1]![j]!, table[i]![j + 1]!);
  return table;
}
