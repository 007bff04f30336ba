import type { Expression } from './expression.ts';
import { compileTest, type ColumnOf, type RowTest } from './compile-test.ts';

/** Returns a function that evaluates an expression on a row. `columnOf` returns the column of a field. Logic is two-valued. */
export function compileExpression(expression: Expression, columnOf: ColumnOf): RowTest {
  switch (expression.kind) {
    case 'match':
      return compileTest(expression.test, columnOf(expression.field), columnOf);
    case 'not': {
      const inner = compileExpression(expression.of, columnOf);
      return (row) => !inner(row);
    }
    case 'all':
    case 'any': {
      const parts = expression.of.map((one) => compileExpression(one, columnOf));
      const isAll = expression.kind === 'all';
      return (row) => {
        for (const matches of parts) if (matches(row) !== isAll) return !isAll;
        return isAll;
      };
    }
  }
}
