import { foldCase } from './text-pattern.ts';
import type { Expression } from './expression.ts';

/** The values of one event that a set of rules reads, as text by column. A missing value is null. Case is folded once for each value. */
export type FieldRow = {
  text: (column: number) => string | null;
  folded: (column: number) => string | null;
};

/** Creates a row of values that `read` returns. The case of a value is folded at most once, and only if a rule needs it. */
export function createFieldRow(read: (column: number) => string | null): FieldRow {
  // Most rows match nothing and need no folded value.
  let folded: Map<number, string> | undefined;
  return {
    text: read,
    folded: (column) => {
      const known = folded?.get(column);
      if (known !== undefined) return known;
      const value = read(column);
      if (value === null) return null;
      const lower = foldCase(value);
      folded ??= new Map();
      folded.set(column, lower);
      return lower;
    },
  };
}

/** Returns an expression with other names of its fields. */
export function renameFields(expression: Expression, rename: (field: string | null) => string | null): Expression {
  if (expression.kind === 'not') return { kind: 'not', of: renameFields(expression.of, rename) };
  if (expression.kind !== 'match')
    return { kind: expression.kind, of: expression.of.map((one) => renameFields(one, rename)) };
  const { test } = expression;
  return {
    kind: 'match',
    field: rename(expression.field),
    test: test.kind === 'field' ? { ...test, other: rename(test.other)! } : test,
  };
}
