import type { ListRow } from './list-row.ts';

/** A row and the line under which it is stored. */
export type ListLine = { text: string; row: ListRow };

const lineMaxChars = 4_000;
/** The maximum length of a cell without a value in a longer line. */
const remarkMaxChars = 400;

/** Returns the line of a row, one field after the other. Long lines keep all of their values, and the beginning of everything else. */
export function toListLine(header: string[] | undefined, cells: string[], row: ListRow): ListLine {
  const line = joinCells(header, cells);
  if (line.length <= lineMaxChars) return { text: line, row };
  const values = row.observables.map(({ value }) => value);
  const holdsValue = (cell: string): boolean => values.some((value) => cell.includes(value));
  const shortened = cells.map((cell) =>
    cell.length <= remarkMaxChars || holdsValue(cell) ? cell : cell.slice(0, remarkMaxChars).toWellFormed(),
  );
  return { text: joinCells(header, shortened), row };
}

function joinCells(header: string[] | undefined, cells: string[]): string {
  const line = header
    ? cells.flatMap((cell, index) => (cell === '' ? [] : [`${header[index] || index}: ${cell}`])).join(', ')
    : cells.join(', ');
  return toLine(line).toWellFormed();
}

/** Replaces line breaks, so that a row stays one line. */
export const toLine = (text: string): string =>
  text.replaceAll(/\s+/g, (space) => (/[\r\n\u2028\u2029]/.test(space) ? ' ' : space));
