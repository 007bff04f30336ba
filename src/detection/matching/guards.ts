import { visitMatches, type Expression, type Match } from './expression.ts';
import { foldCase, plainText } from './text-pattern.ts';
import { requiredLiterals } from './regex-literal.ts';
import type { FieldRow } from './field-row.ts';
import { rememberResults } from '../../platform/lib/concurrency/shared-calls.ts';
import { createAutomaton } from './literal-automaton.ts';

/** A text, in lower case, that a field equals or contains. */
export type Guard = { field: string | null; isWhole: boolean; text: string };

/** The texts that a set looks for in a row before it evaluates expressions. */
type GuardChoice = {
  /** The expressions without guards. */
  unguarded: readonly number[];
  /** The columns with guards, and what finds the expressions whose guards are true of a value. */
  columns: readonly { column: number; find: GuardFinder['find'] }[];
};

/** Chooses the guards of expressions. */
type GuardChooser = {
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

/**
 * Returns guards of which at least one is true wherever the expression is, or undefined if there are none. Of several possibilities it chooses
 * the one with the lowest cost.
 */
export function chooseGuards(
  expression: Expression,
  costOf: (guards: readonly Guard[]) => number,
): readonly Guard[] | undefined {
  switch (expression.kind) {
    case 'match':
      return readGuards(expression);
    case 'not':
      return undefined;
    case 'any': {
      const parts = expression.of.map((one) => chooseGuards(one, costOf));
      return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
    }
    case 'all': {
      const parts = expression.of.map((one) => chooseGuards(one, costOf)).filter((part) => part !== undefined);
      const costs = new Map(parts.map((part) => [part, costOf(part)]));
      return parts.toSorted((a, b) => costs.get(a)! - costs.get(b)!)[0];
    }
  }
}

/** Returns guards one of which is true wherever a match is. */
function readGuards({ field, test }: Match): readonly Guard[] | undefined {
  if (test.kind === 'regex')
    return requiredLiterals(test.source, test.flags)?.map((text) => ({ field, isWhole: false, text }));
  if (test.kind !== 'text') return undefined;
  const whole = plainText(test.pattern);
  if (whole !== undefined) return [{ field, isWhole: true, text: foldCase(whole) }];
  const [longest] = test.pattern
    .flatMap((part) => ('text' in part ? [foldCase(part.text)] : []))
    .toSorted((a, b) => b.length - a.length);
  return longest === undefined || longest === '' ? undefined : [{ field, isWhole: false, text: longest }];
}

const guardKey = ({ field, isWhole, text }: Guard): string => `${isWhole ? '=' : '~'}${field ?? ''}\0${text}`;

/** Calls `visit` once for each guard that an expression could have. */
function visitGuards(expression: Expression, visit: (guard: Guard) => void): void {
  const keys = new Set<string>();
  visitMatches(expression, (match) => {
    for (const guard of readGuards(match) ?? []) {
      if (keys.has(guardKey(guard))) continue;
      keys.add(guardKey(guard));
      visit(guard);
    }
  });
}

/** Finds which guards of one field are true of a value. */
type GuardFinder = {
  guardCount: number;
  /** Returns the indexes of the guards that are true. */
  list: (value: string) => readonly number[];
  /** Returns the expressions whose guards are true, possibly more than once. */
  find: (value: string) => readonly number[];
  /** Sets the expressions of each guard by its index. Returns whether any has one. */
  use: (expressionsOf: readonly (readonly number[])[]) => boolean;
};

const rememberedValuesMax = 4000;
const none: readonly number[] = [];

/** Creates a finder. Short values repeat in logs, so it remembers them. */
function createGuardFinder(guards: readonly (Guard & { index: number })[]): GuardFinder {
  const whole = new Map(guards.filter(({ isWhole }) => isWhole).map(({ text, index }) => [text, index]));
  const contained = guards.filter(({ isWhole }) => !isWhole);
  const automaton = createAutomaton(contained.map(({ text }) => text));
  let expressionsOf: readonly (readonly number[])[] = [];

  const list = (text: string): readonly number[] => {
    const value = foldCase(text);
    const found = new Set<number>();
    const equal = whole.get(value);
    if (equal !== undefined) found.add(equal);
    if (contained.length > 0) automaton.search(value, (literal) => found.add(contained[literal]!.index));
    return found.size > 0 ? [...found] : none;
  };
  const search = (value: string): readonly number[] => {
    const found = list(value).flatMap((index) => expressionsOf[index]!);
    return found.length > 0 ? found : none;
  };
  let find = rememberResults(search, rememberedValuesMax);
  return {
    guardCount: guards.length,
    list,
    find: (value) => find(value),
    use(expressions) {
      expressionsOf = expressions;
      find = rememberResults(search, rememberedValuesMax);
      return guards.some(({ index }) => expressions[index]!.length > 0);
    },
  };
}
