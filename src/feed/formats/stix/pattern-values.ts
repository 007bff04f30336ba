import { toStorableText } from '../../../platform/lib/text/storable-text.ts';
import { createObservable, type Observable } from '../../extraction/observable.ts';
import { classifyProperty } from './stix-observables.ts';
import { parsePattern, type Comparison, type ObjectPath, type Observation } from './pattern.ts';

/**
 * Returns the values that a pattern tests for equality (`=` and `IN`, not negated, and `LIKE` without wildcards) as indicators or other observables,
 * and the networks that it tests addresses for (`ISSUBSET`). Wildcards, regular expressions and ranges are ignored. Throws an Error for an invalid
 * pattern.
 */
export function findPatternValues(pattern: string): Observable[] {
  const values: Observable[] = [];
  // Some exporters omit the brackets of a single observation.
  const isBare = !/^\s*[[(]/.test(pattern);
  const observations: Observation[] = [parsePattern(isBare ? `[${pattern}]` : pattern)];
  for (let next = observations.pop(); next; next = observations.pop()) {
    if (next.kind === 'observation') values.push(...findComparisonValues(next.comparison));
    else observations.push(...next.operands.toReversed());
  }
  return values;
}

function findComparisonValues(comparison: Comparison): Observable[] {
  switch (comparison.kind) {
    case 'exists':
      return [];
    case 'or':
      return comparison.operands.flatMap(findComparisonValues);
    case 'and': {
      const path = findFilePath(comparison.operands);
      const others = path ? comparison.operands.filter((one) => !path.tests.includes(one)) : comparison.operands;
      return [...(path ? [createObservable('file_path', path.value)] : []), ...others.flatMap(findComparisonValues)];
    }
    case 'test':
      return findTestValues(comparison);
  }
}

function findTestValues(test: Extract<Comparison, { kind: 'test' }>): Observable[] {
  const { path, negated, operator, values } = test;
  const isEquality = ['=', 'IN', 'ISSUBSET'].includes(operator);
  if (negated || !(isEquality || (operator === 'LIKE' && values.every(({ text }) => !/[%_]/.test(text))))) return [];
  const found = values
    .filter(({ kind, text }) => (kind === 'string' || kind === 'number') && text.trim() !== '')
    .map(({ text }) => classifyProperty(path.object, path.steps, toStorableText(text)))
    .filter((observable) => observable !== undefined);
  // Only ranges of addresses are values.
  return operator === 'ISSUBSET' ? found.filter(isAddressOrNetwork) : found;
}

/** Returns the path of a file whose name and directory are tested together. */
function findFilePath(operands: Comparison[]): { value: string; tests: Comparison[] } | undefined {
  const find = (path: string): { text: string; tests: Comparison[] } | undefined => {
    const tests = operands.filter((one) => one.kind === 'test' && toPathText(one.path) === path);
    const [test] = tests;
    const isOne = tests.length === 1 && test?.kind === 'test' && test.operator === '=' && !test.negated;
    return isOne && test.values[0]!.kind === 'string' ? { text: test.values[0]!.text, tests } : undefined;
  };
  const [name, directory] = [find('file:name'), find('file:parent_directory_ref.path')];
  if (!name || !directory || name.text.trim() === '' || directory.text.trim() === '') return undefined;
  return { value: joinPath(directory.text, name.text), tests: [...name.tests, ...directory.tests] };
}

/** Returns the path of a file in a directory of Windows (`C:`, `%TEMP%`) or another system. */
export const joinPath = (directory: string, name: string): string =>
  `${directory.replace(/[/\\]$/, '')}${windowsDirectory.test(directory) ? '\\' : '/'}${name}`;

const windowsDirectory = /\\|^[a-z]:$|^%[^%/]+%$/i;

const toPathText = ({ object, steps }: ObjectPath): string => `${object}:${steps.join('.')}`;

const isAddressOrNetwork = (observable: Observable): boolean =>
  observable.kind === 'other' ? observable.framework === 'observable:cidr' : observable.type.startsWith('ipv');
