import { foldCase } from './fold-case.ts';

/** The values of one event that a set of rules reads, as text by column. A missing value is null. Case is folded once for each value. */
export type FieldRow = {
  text: (column: number) => string | null;
  folded: (column: number) => string | null;
};

/** Creates a row of values that `read` returns. A value is read and folded at most once, and only if a rule needs it. */
export function createFieldRow(read: (column: number) => string | null): FieldRow {
  const texts = new Map<number, string>();
  const folded = new Map<number, string>();
  const text = (column: number): string | null => {
    const known = texts.get(column);
    if (known !== undefined) return known;
    const value = read(column);
    if (value !== null) texts.set(column, value);
    return value;
  };
  return {
    text,
    folded: (column) => {
      const known = folded.get(column);
      if (known !== undefined) return known;
      const value = text(column);
      if (value === null) return null;
      const lower = foldCase(value);
      folded.set(column, lower);
      return lower;
    },
  };
}
