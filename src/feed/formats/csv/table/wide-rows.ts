import { recognizeValue, splitValues } from '../recognize-value.ts';

/** Values of one cell that stay in one row. */
const valuesPerRow = 100;
/** The shortest text of so many values. */
const wideMinChars = valuesPerRow * 4;
const valueCellsMin = 10;
const valueShareMin = 0.8;

/** Splits a row without a header whose cells are all values, such as addresses in one line, into a row for each. */
export const splitValueRow = (cells: string[]): string[][] => {
  if (cells.length < valueCellsMin) return [cells];
  const values = cells.filter((cell) => recognizeValue(cell).length > 0);
  return values.length < cells.length * valueShareMin ? [cells] : cells.map((cell) => [cell]);
};

/** Splits a row with a cell of more than 100 values into several rows, which repeat the other cells. */
export function splitWideRow(cells: string[]): string[][] {
  if (cells.every((cell) => cell.length < wideMinChars)) return [cells];
  const groups = cells.map((cell) => (cell.length < wideMinChars ? [cell] : groupValues(cell)));
  const count = Math.max(...groups.map((group) => group.length));
  // Each value of a cell gets a row, and each row repeats what applies to all of them.
  return Array.from({ length: count }, (_, index) =>
    groups.map((group) => (group.length === 1 ? group[0]! : (group[index] ?? ''))),
  );
}

function groupValues(cell: string): string[] {
  const values = splitValues(cell);
  const groups = Array.from({ length: Math.ceil(values.length / valuesPerRow) }, (_, index) =>
    values.slice(index * valuesPerRow, (index + 1) * valuesPerRow).join(' '),
  );
  return groups.length > 1 ? groups : [cell];
}
