import { hash } from 'node:crypto';
import type { Row } from '../../siem/connector.ts';
import { numberIn } from './fields.ts';
import { flattenRow } from './flatten.ts';
import { canonicalText, compareCodeUnits } from '../../../platform/lib/text/canonical-text.ts';
import { isTime } from './times.ts';

// What the author says about a row is no part of what happened.
const authorNames = new Set(['severity', 'technique', 'techniques', 'step', 'steps']);
const countNames = new Set(['count', 'value', 'n']);

/** A row's values other than numbers, times, `_` columns and the entity's own field, sorted by field. */
export function valuesOf(row: Row, entityField: string | null): [field: string, value: string][] {
  const values: [string, string][] = [];
  for (const [field, value] of flattenRow(row)) {
    if (field === entityField || typeof value === 'number' || typeof value === 'bigint') continue;
    if (authorNames.has(field.toLowerCase()) || isCount(field, value)) continue;
    const text = isTime(field, value) ? undefined : canonicalText(value);
    if (text !== undefined) values.push([field, text]);
  }
  return values.toSorted((a, b) => compareCodeUnits(a[0], b[0]));
}

/** A short name for a row's values: equal for equal values, bounded whatever their length. */
export function valuesKey(values: readonly (readonly [string, string])[]): string {
  return hash('sha256', JSON.stringify(values)).slice(0, 32);
}

// Engines that hand every value out as text give counts as text too.
function isCount(field: string, value: unknown): boolean {
  return countNames.has(field.toLowerCase()) && numberIn(value) !== undefined;
}
