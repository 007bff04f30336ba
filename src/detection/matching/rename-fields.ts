import type { Expression } from './expression.ts';

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
