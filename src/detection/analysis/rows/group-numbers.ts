import type { QueryRow } from '../../siem/connector.ts';
import type { EntityGroup } from './group-rows.ts';
import { mapInSteps, type Steps } from '../../../platform/lib/concurrency/slices.ts';
import { parseNumber } from './fields.ts';

/** A group's number. `unit` is the summed column, or `rows` if rows were counted. */
export type GroupNumber = { group: EntityGroup; number: number; unit: string };

// The last three are the engines' names for a count without an alias.
const numberColumns = ['count', 'value', 'n', 'count_star()', 'count(*)', 'count()'];

const numbersOf = new WeakMap<readonly EntityGroup[], GroupNumber[]>();

/**
 * Returns each group's sum of the first of `count`, `value` and `n` that contains only numbers, else its number of rows. Computes them once
 * for the groups of a window.
 */
export function* computeGroupNumbers(groups: readonly EntityGroup[]): Steps<GroupNumber[]> {
  const known = numbersOf.get(groups);
  if (known) return known;
  const numbers = yield* sumNumbers(groups);
  numbersOf.set(groups, numbers);
  return numbers;
}

function* sumNumbers(groups: readonly EntityGroup[]): Steps<GroupNumber[]> {
  const column = yield* findNumberColumn(groups);
  if (column === undefined) return groups.map((group) => ({ group, number: group.rows.length, unit: 'rows' }));
  const groupNumbers: GroupNumber[] = [];
  for (const group of groups) {
    const numbers = (yield* mapInSteps(group.rows, ({ row }) => parseNumber(findColumn(row, column)) ?? [])).flat();
    if (numbers.length > 0)
      groupNumbers.push({ group, number: numbers.reduce((sum, one) => sum + one, 0), unit: column });
  }
  return groupNumbers;
}

function* findNumberColumn(groups: readonly EntityGroup[]): Steps<string | undefined> {
  for (const name of numberColumns) if (yield* hasOnlyNumbers(groups, name)) return name;
  return undefined;
}

/** Returns whether at least one row has a number in the column and none has text. */
function* hasOnlyNumbers(groups: readonly EntityGroup[], column: string): Steps<boolean> {
  let hasNumber = false;
  for (const { rows } of groups) {
    for (const { row } of rows) {
      yield;
      const value = findColumn(row, column);
      if (value === undefined || value === null || isNotFinite(value)) continue;
      if (parseNumber(value) === undefined) return false;
      hasNumber = true;
    }
  }
  return hasNumber;
}

/** Returns whether a value is NaN or infinite, for example from a division by zero. Such values do not make a column non-numeric. */
function isNotFinite(value: unknown): boolean {
  return typeof value === 'number' && !Number.isFinite(value);
}

function findColumn(row: QueryRow, column: string): unknown {
  if (Object.hasOwn(row, column)) return row[column];
  const name = Object.keys(row).find((own) => own.toLowerCase() === column);
  return name === undefined ? undefined : row[name];
}
