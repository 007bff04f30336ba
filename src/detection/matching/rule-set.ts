import { rememberResults } from '../../platform/lib/concurrency/shared-calls.ts';
import { compileExpression, type FieldRow } from './compile-expression.ts';
import { type Expression, type Match, visitMatches } from './expression.ts';
import { createAutomaton } from './literal-automaton.ts';
import { requiredLiterals } from './regex-literal.ts';
import { foldCase, isAscii, plainText } from './text-pattern.ts';

/** A text, in lower case, that a field equals or contains. */
export type Guard = { field: string | null; isWhole: boolean; text: string };

/** The texts that a set looks for in a row before it evaluates expressions. */
type GuardChoice = {
  /** The expressions without guards. */
  unguarded: readonly number[];
  /** The columns with guards. */
  columns: readonly number[];
  /** For each of these columns, what returns the expressions whose guards are true of a value, possibly more than once. */
  finders: readonly (ExpressionFinder | undefined)[];
};

type ExpressionFinder = (value: string) => readonly number[];

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
/** The first samples are all used, then those by which their number has grown by a factor. */
const [samplesFirst, samplesGrowth] = [2, 8];
/** Characters of a column that are observed in a sample. */
const observedCharsMax = 100_000;

function createGuardChooser(
  expressions: readonly Expression[],
  columnOf: (field: string | null) => number,
): GuardChooser {
  const { guards, guardsOf } = listGuards(expressions);
  const byColumn = Map.groupBy(guards, ({ field }) => columnOf(field));
  // In the observed rows: those in which each guard is true, and the evaluations that a guard's share of searching its column is worth.
  const found = new Float64Array(guards.length);
  const searchCosts = new Map([...byColumn.keys()].map((column) => [column, 0]));
  // The last choice of each column, because most columns keep theirs.
  const chosenBefore = new Map<number, { key: string; find: ExpressionFinder }>();

  const guardCostOf = ({ index, uses, isWhole, text }: ListedGuard): number =>
    found[index]! + tieBreak * (uses + (isWhole ? 0 : (shortTexts[text.length] ?? 0)));
  const costOf = (chosen: readonly ListedGuard[]): number => {
    const columns = new Set(chosen.map(({ field }) => columnOf(field)));
    return sum(chosen, guardCostOf) + sum([...columns], (column) => searchCosts.get(column)!);
  };
  return {
    choose() {
      const unguarded: number[] = [];
      const expressionsOf = new Map<ListedGuard, number[]>();
      for (const [index, expression] of expressions.entries()) {
        const chosen = chooseAmong(expression, { costOf, guardsOf: (match) => guardsOf.get(match) });
        if (!chosen) unguarded.push(index);
        for (const guard of new Set(chosen)) {
          const own = expressionsOf.get(guard);
          if (own) own.push(index);
          else expressionsOf.set(guard, [index]);
        }
      }
      const usedOf = Map.groupBy(expressionsOf, ([{ field }]) => columnOf(field));
      const finders: (ExpressionFinder | undefined)[] = [];
      for (const [column, used] of usedOf) {
        const key = used.map(([{ index }, own]) => `${index}:${own.join()}`).join(';');
        const before = chosenBefore.get(column);
        const find = before?.key === key ? before.find : createExpressionFinder(used);
        chosenBefore.set(column, { key, find });
        finders[column] = find;
      }
      return { unguarded, columns: [...usedOf.keys()], finders };
    },
    observe(rows) {
      for (const [column, own] of byColumn) {
        const { values, share } = sampleValues(rows, column);
        if (values.length === 0) continue;
        const chars = sum(values, (value) => value.length);
        searchCosts.set(column, searchCosts.get(column)! + chars / share / charsPerEvaluation / own.length);
        const counts = countValues(values);
        // Searching all values at once rules out most texts.
        const all = values.join('\n');
        for (const { index, isWhole, text } of own)
          if (isWhole) found[index]! += (counts.get(text) ?? 0) / share;
          else if (all.includes(text)) found[index]! += values.filter((value) => value.includes(text)).length / share;
      }
    },
  };
}

/** Returns the first values of a column, in lower case, and the share of the rows that they are from. */
function sampleValues(rows: readonly FieldRow[], column: number): { values: string[]; share: number } {
  const values: string[] = [];
  let chars = 0;
  let read = 0;
  for (; read < rows.length && chars < observedCharsMax; read += 1) {
    const value = rows[read]!.folded(column);
    if (value === null) continue;
    values.push(value);
    chars += value.length;
  }
  return { values, share: read / rows.length };
}

function countValues(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** Returns what finds the expressions whose guards of one field are true of a value. It is prepared when a row has the field. */
function createExpressionFinder(used: readonly (readonly [Guard, readonly number[]])[]): ExpressionFinder {
  let find: ((value: string) => readonly number[]) | undefined;
  const listExpressions = (value: string): readonly number[] => {
    find ??= createGuardFinder(used.map(([guard]) => guard));
    const places = find(value);
    return places.length === 0 ? none : places.flatMap((place) => used[place]![1]);
  };
  return rememberResults(listExpressions, rememberedValuesMax);
}

/** A guard, its place among all of them, and the number of expressions that could have it. */
type ListedGuard = Guard & { index: number; uses: number };
type GuardList = { guards: ListedGuard[]; guardsOf: ReadonlyMap<Match, readonly ListedGuard[]> };

/** Returns the guards that expressions could have, each once, and those of each match that has any. */
function listGuards(expressions: readonly Expression[]): GuardList {
  const guards = new Map<string, ListedGuard>();
  const guardsOf = new Map<Match, readonly ListedGuard[]>();
  for (const expression of expressions) {
    const counted = new Set<ListedGuard>();
    visitMatches(expression, (match) => {
      const listed = readGuards(match)?.map((guard) => {
        const key = guardKey(guard);
        const known = guards.get(key) ?? { ...guard, index: guards.size, uses: 0 };
        guards.set(key, known);
        if (!counted.has(known)) known.uses += 1;
        counted.add(known);
        return known;
      });
      if (listed) guardsOf.set(match, listed);
    });
  }
  return { guards: [...guards.values()], guardsOf };
}

const sum = <Item>(items: readonly Item[], valueOf: (item: Item) => number): number =>
  items.reduce((total, item) => total + valueOf(item), 0);

/**
 * Returns guards of which at least one is true wherever the expression is, or undefined if there are none. Of several possibilities it chooses
 * the one with the lowest cost.
 */
export const chooseGuards = (
  expression: Expression,
  costOf: (guards: readonly Guard[]) => number,
): readonly Guard[] | undefined => chooseAmong(expression, { costOf, guardsOf: readGuards });

type GuardOptions<G extends Guard> = {
  costOf: (guards: readonly G[]) => number;
  guardsOf: (match: Match) => readonly G[] | undefined;
};

function chooseAmong<G extends Guard>(expression: Expression, options: GuardOptions<G>): readonly G[] | undefined {
  switch (expression.kind) {
    case 'match':
      return options.guardsOf(expression);
    case 'not':
      return undefined;
    case 'any': {
      const parts = expression.of.map((one) => chooseAmong(one, options));
      return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
    }
    case 'all': {
      const parts = expression.of.map((one) => chooseAmong(one, options)).filter((part) => part !== undefined);
      const costs = new Map(parts.map((part) => [part, parts.length > 1 ? options.costOf(part) : 0]));
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

const rememberedValuesMax = 4000;
const none: readonly number[] = [];

/**
 * Returns a function that returns the places, in a list of guards of one field, of those that are true of a value. The case of a value that is
 * ASCII is folded only if a guard could be equal to it.
 */
function createGuardFinder(guards: readonly Guard[]): (value: string) => readonly number[] {
  const whole = new Map<string, number>();
  const wholeLengths = new Set<number>();
  const contained: number[] = [];
  for (const [place, { isWhole, text }] of guards.entries())
    if (isWhole) {
      whole.set(text, place);
      wholeLengths.add(text.length);
    } else contained.push(place);
  const automaton = contained.length > 0 ? createAutomaton(contained.map((place) => guards[place]!.text)) : undefined;
  let places = none;
  const add = (literal: number): void => {
    const place = contained[literal]!;
    if (!places.includes(place)) places = [...places, place];
  };
  return (value) => {
    const isPlain = isAscii(value);
    const folded = !isPlain || wholeLengths.has(value.length) ? foldCase(value) : value;
    const equal = whole.get(folded);
    places = equal === undefined ? none : [equal];
    automaton?.search(folded, add, isPlain);
    return places;
  };
}

/** Expressions that are evaluated together. */
export type RuleSet = {
  /** Returns the indexes of the expressions that match a row, in ascending order. `columns`: no other column of the row has a value. */
  match: (row: FieldRow, columns?: readonly number[]) => number[];
  /** Makes `match` faster for rows like these and those of earlier calls. Of the calls it uses the first two, and then fewer and fewer. */
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
  let [samples, nextSample] = [0, 1];
  return {
    match(row, columns = choice.columns) {
      const { unguarded, finders } = choice;
      rowNumber = (rowNumber + 1) | 0;
      const matching: number[] = [];
      const evaluate = (index: number): void => {
        if (evaluated[index] === rowNumber) return;
        evaluated[index] = rowNumber;
        if (tests[index]!(row)) matching.push(index);
      };
      for (const index of unguarded) evaluate(index);
      for (const column of columns) {
        const find = finders[column];
        const value = find ? row.text(column) : null;
        if (value !== null) for (const index of find!(value)) evaluate(index);
      }
      return matching.length > 1 ? matching.toSorted((a, b) => a - b) : matching;
    },
    adapt(rows) {
      samples += 1;
      // Choosing costs as much as matching thousands of rows, and after some samples it changes little.
      if (samples < nextSample) return;
      nextSample = samples < samplesFirst ? samples + 1 : samples * samplesGrowth;
      chooser.observe(rows);
      choice = chooser.choose();
    },
  };
}
