import type { Observable } from '../../../extraction/observable.ts';
import { classifyProperty } from '../stix-observables.ts';
import { parsePattern, type Comparison, type Observation } from './pattern.ts';

/**
 * The values that a pattern looks for by equality (`=` and `IN`, not negated), as indicators or other observables.
 * Throws an Error for what is no pattern. Wildcards, expressions, ranges and bounds name no value and are left out.
 */
export function findPatternValues(pattern: string): Observable[] {
  const found: Observable[] = [];
  const observations: Observation[] = [parsePattern(pattern)];
  for (let next = observations.pop(); next; next = observations.pop()) {
    if (next.kind === 'observation') found.push(...valuesOfComparison(next.comparison));
    else observations.push(...next.operands.toReversed());
  }
  return found;
}

function valuesOfComparison(comparison: Comparison): Observable[] {
  if (comparison.kind === 'exists') return [];
  if (comparison.kind !== 'test') return comparison.operands.flatMap(valuesOfComparison);
  const { path, negated, operator, values } = comparison;
  if (negated || (operator !== '=' && operator !== 'IN')) return [];
  return values
    .filter(({ kind, text }) => (kind === 'string' || kind === 'number') && text.trim() !== '')
    .map(({ text }) => classifyProperty(path.object, path.steps, text.toWellFormed().replaceAll('\u0000', '\uFFFD')))
    .filter((observable) => observable !== undefined);
}
