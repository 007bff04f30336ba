import { foldCase } from './fold-case.ts';

/** The values of one event that a set of rules reads, as text by column. A missing value is null. Case is folded once for each value. */
export type FieldRow = {
  text: (column: number) => string | null;
  folded: (column: number) => string | null;
};

export function createFieldRow(texts: readonly (string | null)[]): FieldRow {
  const folded: (string | null | undefined)[] = [];
  return {
    text: (column) => texts[column] ?? null,
    folded: (column) => {
      const known = folded[column];
      if (known !== undefined) return known;
      const text = texts[column] ?? null;
      return (folded[column] = text === null ? null : foldCase(text));
    },
  };
}
