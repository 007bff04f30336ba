import type { Observable } from '../../../extraction/observable.ts';
import { classifyProperty } from '../stix-observables.ts';
import { parsePattern, type Comparison, type Observation } from './pattern.ts';

/**
 * Returns the values that a pattern tests for equality (`=` and `IN`, not negated, and `LIKE` without wildcards) as indicators or other observables,
 * and the networks that it tests addresses for (`ISSUBSET`). Wildcards, regular expressions and ranges are ignored. Throws an Error for an invalid
 * pattern.
 */
export function findPatternValues(pattern: string): Observable[] {
  const values: Observable[] = [];
  const observations: Observation[] = [parsePattern(pattern)];
  for (let next = observations.pop(); next; next = observations.pop()) {
    if (next.kind === 'observation') values.push(...findComparisonValues(next.comparison));
    else observations.push(...next.operands.toReversed());
  }
  return values;
}

function findComparisonValues(comparison: Comparison): Observable[] {
  if (comparison.kind === 'exists') return [];
  if (comparison.kind !== 'test') return comparison.operands.flatMap(findComparisonValues);
  const { path, negated, operator, values } = comparison;
  const isEquality = ['=', 'IN', 'ISSUBSET'].includes(operator);
  if (negated || !(isEquality || (operator === 'LIKE' && values.every(({ text }) => !/[%_]/.test(text))))) return [];
  const found = values
    .filter(({ kind, text }) => (kind === 'string' || kind === 'number') && text.trim() !== '')
    .map(({ text }) => classifyProperty(path.object, path.steps, text.toWellFormed().replaceAll('\u0000', '\uFFFD')))
    .filter((observable) => observable !== undefined);
  // A range of anything but addresses is no value.
  return operator === 'ISSUBSET' ? found.filter(isAddressOrNetwork) : found;
}

const isAddressOrNetwork = (observable: Observable): boolean =>
  observable.kind === 'other' ? observable.framework === 'observable:cidr' : observable.type.startsWith('ipv');
