import { compileExpression } from './compile-expression.ts';
import type { Expression } from './expression.ts';
import type { FieldRow } from './field-row.ts';
import { chooseGuards, guardKey, visitGuards, type Guard } from './guards.ts';
import { createGuardFinder, type GuardFinder } from './guard-finder.ts';

/** Expressions that are evaluated together. */
export type RuleSet = {
  /** Returns the indexes of the expressions that match a row, in ascending order. */
  match: (row: FieldRow) => number[];
  /** Makes `match` faster for rows like these and those of earlier calls. */
  adapt: (rows: readonly FieldRow[]) => void;
};

/** Short texts occur in many events, however few expressions have them. */
const shortTexts = [Infinity, 2000, 500, 100, 20];
/** A text of so many characters is searched in the time in which an expression is evaluated. */
const charsPerEvaluation = 50;
/** Rates guards that occur in none of the rows by the expressions that have them. */
const tieBreak = 0.001;

/**
 * Compiles expressions so that a row is compared with all of them at once: a pass over the value of each field finds the texts that the
 * expressions require, and only expressions one of whose texts was found are evaluated. `columnOf` returns the column of a field.
 */
export function compileRuleSet(
  expressions: readonly Expression[],
  columnOf: (field: string | null) => number,
): RuleSet {
  const tests = expressions.map((expression) => compileExpression(expression, columnOf));
  const { guards, indexes, uses } = listGuards(expressions);
  const indexOf = (guard: Guard): number => indexes.get(guardKey(guard))!;
  const staticCostOf = (guard: Guard): number =>
    uses[indexOf(guard)]! + (guard.isWhole ? 0 : (shortTexts[guard.text.length] ?? 0));
  const finders = new Map<number, GuardFinder>();
  for (const [column, own] of Map.groupBy(guards, ({ field }) => columnOf(field)))
    finders.set(column, createGuardFinder(own.map((guard) => ({ ...guard, index: indexOf(guard) }))));

  let unguarded: number[] = [];
  let active: { column: number; find: GuardFinder['find'] }[] = [];
  const choose = (costOf: (chosen: readonly Guard[]) => number): void => {
    unguarded = [];
    const expressionsOf: number[][] = guards.map(() => []);
    for (const [index, expression] of expressions.entries()) {
      const chosen = chooseGuards(expression, costOf);
      if (!chosen) unguarded.push(index);
      for (const guard of chosen ?? []) expressionsOf[indexOf(guard)]!.push(index);
    }
    active = [...finders]
      .filter(([, finder]) => finder.use(expressionsOf))
      .map(([column, { find }]) => ({ column, find }));
  };
  choose((chosen) => sum(chosen, staticCostOf));

  // In the rows of `adapt`: those in which each guard is true, and the evaluations that a guard's share of searching its column is worth.
  const found = new Int32Array(guards.length);
  const searchCosts = new Map([...finders.keys()].map((column) => [column, 0]));
  // The number of the last row for which an expression was evaluated.
  const evaluated = new Int32Array(expressions.length);
  let rowNumber = 0;
  return {
    match(row) {
      rowNumber = (rowNumber + 1) | 0;
      const matching: number[] = [];
      const evaluate = (index: number): void => {
        if (evaluated[index] === rowNumber) return;
        evaluated[index] = rowNumber;
        if (tests[index]!(row)) matching.push(index);
      };
      for (const index of unguarded) evaluate(index);
      for (const { column, find } of active) {
        const value = row.text(column);
        if (value !== null) for (const index of find(value)) evaluate(index);
      }
      return matching.length > 1 ? matching.toSorted((a, b) => a - b) : matching;
    },
    adapt(rows) {
      for (const [column, finder] of finders)
        for (const row of rows) {
          const value = row.text(column);
          if (value === null) continue;
          for (const index of finder.list(value)) found[index]! += 1;
          searchCosts.set(column, searchCosts.get(column)! + value.length / charsPerEvaluation / finder.guardCount);
        }
      choose(
        (chosen) =>
          sum(chosen, (guard) => found[indexOf(guard)]! + tieBreak * staticCostOf(guard)) +
          sum([...new Set(chosen.map(({ field }) => columnOf(field)))], (column) => searchCosts.get(column)!),
      );
    },
  };
}

type GuardList = { guards: Guard[]; indexes: Map<string, number>; uses: number[] };

/** Returns the guards that expressions could have, their indexes by key, and the number of expressions that could have each of them. */
function listGuards(expressions: readonly Expression[]): GuardList {
  const list: GuardList = { guards: [], indexes: new Map(), uses: [] };
  for (const expression of expressions)
    visitGuards(expression, (guard) => {
      const key = guardKey(guard);
      const index = list.indexes.get(key) ?? list.guards.push(guard) - 1;
      list.indexes.set(key, index);
      list.uses[index] = (list.uses[index] ?? 0) + 1;
    });
  return list;
}

const sum = <Item>(items: readonly Item[], valueOf: (item: Item) => number): number =>
  items.reduce((total, item) => total + valueOf(item), 0);
