import { compileExpression } from './compile-expression.ts';
import type { Expression } from './expression.ts';
import type { FieldRow } from './field-row.ts';
import { createGuardChooser } from './guards.ts';

/** Expressions that are evaluated together. */
export type RuleSet = {
  /** Returns the indexes of the expressions that match a row, in ascending order. */
  match: (row: FieldRow) => number[];
  /** Makes `match` faster for rows like these and those of earlier calls. Of the calls it uses the first, the second, the fourth and so on. */
  adapt: (rows: readonly FieldRow[]) => void;
};

/**
 * Compiles expressions so that a row is compared with all of them at once: a pass over the value of each field finds the texts that the
 * expressions require, and only expressions one of whose texts was found are evaluated. `columnOf` returns the column of a field.
 */
export function compileRuleSet(
  expressions: readonly Expression[],
  columnOf: (field: string | null) => number,
): RuleSet {
  const tests = expressions.map((expression) => compileExpression(expression, columnOf));
  const chooser = createGuardChooser(expressions, columnOf);
  let choice = chooser.choose();
  // The number of the last row for which an expression was evaluated.
  const evaluated = new Int32Array(expressions.length);
  let rowNumber = 0;
  let samples = 0;
  return {
    match(row) {
      rowNumber = (rowNumber + 1) | 0;
      const matching: number[] = [];
      const evaluate = (index: number): void => {
        if (evaluated[index] === rowNumber) return;
        evaluated[index] = rowNumber;
        if (tests[index]!(row)) matching.push(index);
      };
      for (const index of choice.unguarded) evaluate(index);
      for (const { column, find } of choice.columns) {
        const value = row.text(column);
        if (value !== null) for (const index of find(value)) evaluate(index);
      }
      return matching.length > 1 ? matching.toSorted((a, b) => a - b) : matching;
    },
    adapt(rows) {
      samples += 1;
      // Choosing costs as much as matching thousands of rows, and after some samples it changes little.
      if (!Number.isInteger(Math.log2(samples))) return;
      chooser.observe(rows);
      choice = chooser.choose();
    },
  };
}
