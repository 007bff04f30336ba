import { hash } from 'node:crypto';
import type { QueryRow } from '../../siem/connector.ts';
import { isAbsent, parseList, parseNumber, flattenRow } from './fields.ts';
import { foldValue } from './entity-fields.ts';
import { canonicalText, compareCodeUnits } from '../../../platform/lib/text/canonical-text.ts';
import { isTimeField } from './row-times.ts';

// These columns are the author's rating of a row, not part of the activity.
const authorNames = new Set(['severity', 'technique', 'techniques', 'step', 'steps']);
const countNames = new Set(['count', 'value', 'n']);

type RowValue = [field: string, value: string];

/** Returns a row's values without numbers, times, `_` columns, absent values and the entity's field, sorted by field. */
export function extractValues(row: QueryRow, entityField: string | null): RowValue[] {
  const values: RowValue[] = [];
  for (const [field, value] of flattenRow(row)) {
    if (field === entityField || typeof value === 'number' || typeof value === 'bigint') continue;
    if (authorNames.has(field.toLowerCase()) || isCount(field, value)) continue;
    const text = isTimeField(field, value) ? undefined : canonicalText(value);
    if (text !== undefined && text !== '[]' && !isAbsent(text)) values.push([field, text]);
  }
  return values.toSorted((a, b) => compareCodeUnits(a[0], b[0]));
}

/** A combination of a row's values. `key` is a hash of all of them, and `parts` has a short one of each, in order. */
export type Combination = { key: string; parts: string[]; values: RowValue[] };

const elementsMax = 200;

/**
 * Returns the combinations of a row's values: its values that are no lists, with each element of each list. Without lists, there is one. The
 * order and the spelling of values do not matter (`foldValue`). Of a list, 200 elements count, and the rest as one.
 */
export function combineValues(row: QueryRow, entityField: string | null): Combination[] {
  const values = extractValues(row, entityField);
  const lists = values.map(([field, text]) => [field, listElements(text)] as const);
  const plain = values.filter((_, index) => lists[index]![1].length === 0);
  const elements = lists.flatMap(([field, texts]) => texts.map((text): RowValue => [field, text]));
  const combinations = elements.length === 0 ? [plain] : elements.map((element) => [...plain, element]);
  return combinations.map(toCombination);
}

function listElements(text: string): string[] {
  const texts = parseList(text).flatMap((element) => canonicalText(element) ?? []);
  const elements = [...new Set(texts)].filter((element) => !isAbsent(element)).toSorted(compareCodeUnits);
  const rest = elements.slice(elementsMax);
  return rest.length === 0 ? elements : [...elements.slice(0, elementsMax), JSON.stringify(rest)];
}

function toCombination(values: RowValue[]): Combination {
  const folded = values.map(([field, text]): RowValue => [field, foldValue(field, text)]);
  folded.sort((a, b) => compareCodeUnits(a[0], b[0]));
  const parts = folded.map((value) => hash('sha256', JSON.stringify(value)).slice(0, 12)).toSorted(compareCodeUnits);
  return { key: hash('sha256', JSON.stringify(folded)).slice(0, 32), parts, values };
}

// Some engines return all values as text, including counts.
function isCount(field: string, value: unknown): boolean {
  return countNames.has(field.toLowerCase()) && parseNumber(value) !== undefined;
}
