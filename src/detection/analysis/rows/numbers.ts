import type { Row } from '../../siem/connector.ts';
import type { Group } from './group-rows.ts';
import { numberIn } from './fields.ts';

/** A group's number. `unit` names the column that it was added up from, or `rows` where rows were counted. */
export type Counted = { group: Group; number: number; unit: string };

// The last three are what engines call a count that the author gave no name.
const numberColumns = ['count', 'value', 'n', 'count_star()', 'count(*)', 'count()'];

/** The number of each group: the sum of its rows' `count`, `value` or `n`, whichever column holds numbers throughout, else how many rows it has. */
export function countGroups(groups: readonly Group[]): Counted[] {
  const column = numberColumns.find((name) => holdsNumbers(groups, name));
  if (column === undefined) return groups.map((group) => ({ group, number: group.rows.length, unit: 'rows' }));
  return groups.flatMap((group) => {
    const numbers = group.rows.flatMap(({ row }) => numberIn(columnOf(row, column)) ?? []);
    return numbers.length > 0 ? [{ group, number: numbers.reduce((sum, one) => sum + one, 0), unit: column }] : [];
  });
}

/** Some row has a number there and none has anything else: a text column that happens to be called `value` is no count. */
function holdsNumbers(groups: readonly Group[], column: string): boolean {
  let some = false;
  for (const { rows } of groups) {
    for (const { row } of rows) {
      const value = columnOf(row, column);
      if (value === undefined || value === null || isNotANumber(value)) continue;
      if (numberIn(value) === undefined) return false;
      some = true;
    }
  }
  return some;
}

// A division by zero in one group of a query leaves the column what it is.
function isNotANumber(value: unknown): boolean {
  return typeof value === 'number' && !Number.isFinite(value);
}

function columnOf(row: Row, column: string): unknown {
  if (Object.hasOwn(row, column)) return row[column];
  const name = Object.keys(row).find((own) => own.toLowerCase() === column);
  return name === undefined ? undefined : row[name];
}
