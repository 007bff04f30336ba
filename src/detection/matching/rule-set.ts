import { LRUCache } from 'lru-cache';
import { compileExpression } from './compile-expression.ts';
import type { RowTest } from './compile-test.ts';
import type { Expression } from './expression.ts';
import type { FieldRow } from './field-row.ts';
import { foldCase } from './fold-case.ts';
import { chooseGuards, countGuards } from './guards.ts';
import { createAutomaton } from './literal-automaton.ts';

/** Expressions that are evaluated together. `match` returns the indexes of those that match a row, in ascending order. */
export type RuleSet = { match: (row: FieldRow) => number[] };

const rememberedValuesMax = 4000;
const rememberedCharsMax = 512;
const noExpressions: readonly number[] = [];

/**
 * Compiles expressions so that a row is compared with all of them at once: a pass over the value of each field finds the texts that the
 * expressions require, and only expressions one of whose texts was found are evaluated. `columnOf` returns the column of a field.
 */
export function compileRuleSet(
  expressions: readonly Expression[],
  columnOf: (field: string | null) => number,
): RuleSet {
  const counts = countGuards(expressions);
  const tests = expressions.map((expression): RowTest => compileExpression(expression, columnOf));
  const unguarded: number[] = [];
  const fields = new Map<number, FieldGuards>();
  for (const [index, expression] of expressions.entries()) {
    const guards = chooseGuards(expression, counts);
    if (!guards) unguarded.push(index);
    for (const { field, isWhole, text } of guards ?? []) {
      const column = columnOf(field);
      const own = fields.get(column) ?? { whole: new Map(), contained: new Map() };
      fields.set(column, own);
      const list = isWhole ? own.whole : own.contained;
      list.set(text, [...(list.get(text) ?? []), index]);
    }
  }
  const finders = [...fields].map(([column, guards]) => ({ column, find: createFinder(guards) }));
  return {
    match(row) {
      let candidates: Set<number> | undefined;
      for (const { column, find } of finders) {
        const value = row.text(column);
        const found = value === null ? noExpressions : find(value);
        if (found.length === 0) continue;
        candidates ??= new Set(unguarded);
        for (const index of found) candidates.add(index);
      }
      const matching: number[] = [];
      for (const index of candidates ?? unguarded) if (tests[index]!(row)) matching.push(index);
      return matching.length > 1 ? matching.toSorted((a, b) => a - b) : matching;
    },
  };
}

/** The expressions that require a text of a field, by the text. */
type FieldGuards = { whole: Map<string, number[]>; contained: Map<string, number[]> };

/** Returns a function that returns the expressions that a value does not rule out. Short values repeat in logs, so it remembers them. */
function createFinder({ whole, contained }: FieldGuards): (text: string) => readonly number[] {
  const expressions = [...contained.values()];
  const automaton = createAutomaton([...contained.keys()]);
  const known = new LRUCache<string, readonly number[]>({ max: rememberedValuesMax });
  const find = (text: string): readonly number[] => {
    const value = foldCase(text);
    const found = new Set(whole.get(value));
    if (expressions.length > 0)
      automaton.search(value, (literal) => {
        for (const index of expressions[literal]!) found.add(index);
      });
    return found.size > 0 ? [...found] : noExpressions;
  };
  return (value) => {
    if (value.length > rememberedCharsMax) return find(value);
    const remembered = known.get(value);
    if (remembered) return remembered;
    const found = find(value);
    known.set(value, found);
    return found;
  };
}
