import type { Expression } from './expression.ts';
import type { FieldRow } from './field-row.ts';
import { createGuardFinder, type GuardFinder } from './guard-finder.ts';
import { chooseGuards, guardKey, visitGuards, type Guard } from './guards.ts';

/** The texts that a set looks for in a row before it evaluates expressions. */
export type GuardChoice = {
  /** The expressions without guards. */
  unguarded: readonly number[];
  /** The columns with guards, and what finds the expressions whose guards are true of a value. */
  columns: readonly { column: number; find: GuardFinder['find'] }[];
};

/** Chooses the guards of expressions. */
export type GuardChooser = {
  choose: () => GuardChoice;
  /** Counts how often guards are true of rows. Later choices prefer those that rarely are. */
  observe: (rows: readonly FieldRow[]) => void;
};

/** Short texts occur in many events, however few expressions have them. */
const shortTexts = [Infinity, 2000, 500, 100, 20];
/** A text of so many characters is searched in the time in which an expression is evaluated. */
const charsPerEvaluation = 50;
/** Rates guards that are equally often true by the expressions that have them. */
const tieBreak = 0.001;

export function createGuardChooser(
  expressions: readonly Expression[],
  columnOf: (field: string | null) => number,
): GuardChooser {
  const { guards, indexes, uses } = listGuards(expressions);
  const indexOf = (guard: Guard): number => indexes.get(guardKey(guard))!;
  const finders = new Map<number, GuardFinder>();
  for (const [column, own] of Map.groupBy(guards, ({ field }) => columnOf(field)))
    finders.set(column, createGuardFinder(own.map((guard) => ({ ...guard, index: indexOf(guard) }))));
  // In the observed rows: those in which each guard is true, and the evaluations that a guard's share of searching its column is worth.
  const found = new Int32Array(guards.length);
  const searchCosts = new Map([...finders.keys()].map((column) => [column, 0]));

  const guardCostOf = (guard: Guard): number => {
    const index = indexOf(guard);
    return found[index]! + tieBreak * (uses[index]! + (guard.isWhole ? 0 : (shortTexts[guard.text.length] ?? 0)));
  };
  const costOf = (chosen: readonly Guard[]): number => {
    const columns = new Set(chosen.map(({ field }) => columnOf(field)));
    return sum(chosen, guardCostOf) + sum([...columns], (column) => searchCosts.get(column)!);
  };
  return {
    choose() {
      const unguarded: number[] = [];
      const expressionsOf: number[][] = guards.map(() => []);
      for (const [index, expression] of expressions.entries()) {
        const chosen = chooseGuards(expression, costOf);
        if (!chosen) unguarded.push(index);
        for (const guard of chosen ?? []) expressionsOf[indexOf(guard)]!.push(index);
      }
      const used = [...finders].filter(([, finder]) => finder.use(expressionsOf));
      return { unguarded, columns: used.map(([column, { find }]) => ({ column, find })) };
    },
    observe(rows) {
      for (const [column, finder] of finders)
        for (const row of rows) {
          const value = row.text(column);
          if (value === null) continue;
          for (const index of finder.list(value)) found[index]! += 1;
          searchCosts.set(column, searchCosts.get(column)! + value.length / charsPerEvaluation / finder.guardCount);
        }
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
