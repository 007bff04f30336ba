import { hash } from 'node:crypto';
import type { QueryRow } from '../../siem/connector.ts';
import { parseNumber } from './fields.ts';
import { flattenRow } from './flatten.ts';
import { canonicalText, compareCodeUnits } from '../../../platform/lib/text/canonical-text.ts';
import { isTimeField } from './row-times.ts';

// These columns are the author's rating of a row, not part of the activity.
const authorNames = new Set(['severity', 'technique', 'techniques', 'step', 'steps']);
const countNames = new Set(['count', 'value', 'n']);

/** Returns a row's values without numbers, times, `_` columns and the entity's field, sorted by field. */
export function extractValues(row: QueryRow, entityField: string | null): [field: string, value: string][] {
  const values: [string, string][] = [];
  for (const [field, value] of flattenRow(row)) {
    if (field === entityField || typeof value === 'number' || typeof value === 'bigint') continue;
    if (authorNames.has(field.toLowerCase()) || isCount(field, value)) continue;
    const text = isTimeField(field, value) ? undefined : canonicalText(value);
    if (text !== undefined) values.push([field, text]);
  }
  return values.toSorted((a, b) => compareCodeUnits(a[0], b[0]));
}

/** Returns a hash of a row's values. */
export function hashValues(values: readonly (readonly [string, string])[]): string {
  return hash('sha256', JSON.stringify(values)).slice(0, 32);
}

// Some engines return all values as text, including counts.
function isCount(field: string, value: unknown): boolean {
  return countNames.has(field.toLowerCase()) && parseNumber(value) !== undefined;
}
