import { showLine } from '../../platform/lib/text/show-text.ts';
import { isDeepStrictEqual } from 'node:util';
import { diffArrays } from 'diff';
import type { FieldChange } from '../managed/file-fields.ts';
import type { PlanStep } from './plan.ts';

const signs = { create: '+', update: '~', delete: '-', orphan: '?', forget: ' ', same: ' ', conflict: '!' } as const;
const linesMax = 2000;

/** Renders a plan as text: a line for each detection that differs, followed by its changed fields. */
export function renderPlan(steps: readonly PlanStep[]): string {
  const shown = steps.filter(({ kind }) => kind !== 'same' && kind !== 'forget');
  const count = (kind: PlanStep['kind']): number => steps.filter((step) => step.kind === kind).length;
  const conflicts = count('conflict') > 0 ? `, ${count('conflict')} in conflict` : '';
  const summary = `${count('create')} to create, ${count('update')} to change, ${count('delete')} to delete, ${count('same')} unchanged${conflicts}`;
  return [...shown.flatMap(renderStep), summary].map(showLine).join('\n');
}

function renderStep(step: PlanStep): string[] {
  const head = `${signs[step.kind]} ${step.file}`;
  if (step.kind === 'conflict') return [`${head}: ${step.reason}`, ...step.changes.flatMap(renderChange)];
  if (step.kind === 'orphan')
    return [`${head}: its file was removed; use --prune to delete the detection, or pull to restore the file`];
  if (step.kind === 'update') return [head, ...step.changes.flatMap(renderChange)];
  return [`${head}${step.kind === 'create' ? `: ${JSON.stringify(step.fields['name'])}` : ''}`];
}

/** Renders a changed field: on one line, or as a line diff. */
export function renderChange({ field, before, after }: FieldChange): string[] {
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

/** Returns removed (`- `) and added (`+ `) lines. Texts of more than 2000 lines are shown as replaced. */
export function diffLines(before: string[], after: string[]): string[] {
  if (before.length > linesMax || after.length > linesMax)
    return [`- ${before.length} lines`, `+ ${after.length} lines`];
  return diffArrays(before, after).flatMap(({ value, added, removed }) =>
    added || removed ? value.map((line) => `${removed ? '-' : '+'} ${line}`) : [],
  );
}
