import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  event,
  expression,
  fieldNames,
  plainMatch,
  readFuzz,
} from '../../../test/support/detection/sigma/sigma-fuzz.ts';
import type { Expression } from './expression.ts';
import { createFieldRow } from './compile-expression.ts';
import { createAutomaton } from './literal-automaton.ts';
import { isAscii } from './text-pattern.ts';
import { compileRuleSet } from './rule-set.ts';

const columnOf = (field: string | null): number => fieldNames.indexOf(field!);

test('an automaton finds exactly the literals that occur', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'é', '😀', '\0'), { maxLength: 20 }).map((list) => list.join(''));
  const literals = fc.integer({ min: 1, max: 7 }).chain((min) =>
    fc.uniqueArray(
      text.filter(({ length }) => length >= min),
      { maxLength: 12 },
    ),
  );
  fc.assert(
    fc.property(literals, text, fc.constantFrom(0, 12, 2000), fc.boolean(), (list, one, entriesMax, isLong) => {
      const value = isLong ? one.repeat(10) : one;
      const found = new Set<number>();
      createAutomaton(list, entriesMax).search(value, (index) => found.add(index), isAscii(value));
      expect([...found].toSorted((a, b) => a - b)).toEqual(list.flatMap((one, n) => (value.includes(one) ? [n] : [])));
    }),
    { numRuns: 2000 },
  );
});

test('a set matches what each of its expressions matches', () => {
  fc.assert(
    fc.property(fc.array(expression, { maxLength: 20 }), fc.array(event, { maxLength: 10 }), (expressions, events) => {
      const set = compileRuleSet(expressions, columnOf);
      const reads = events.map(readFuzz);
      const rows = reads.map((read) => createFieldRow((column) => read(fieldNames[column]!) ?? null));
      const expected = reads.map((read) => expressions.flatMap((where, n) => (plainMatch(where, read) ? [n] : [])));
      expect(rows.map((row) => set.match(row))).toEqual(expected);
      set.adapt(rows.slice(0, 5));
      const columns = rows.map((row) => [...fieldNames.keys()].filter((column) => row.text(column) !== null));
      expect(rows.map((row, n) => set.match(row, columns[n]))).toEqual(expected);
    }),
    { numRuns: 300 },
  );
});

test('evaluates only expressions whose texts occur', () => {
  const contains = (text: string): Expression => ({
    kind: 'match',
    field: 'f',
    test: { kind: 'text', cased: false, pattern: [{ wildcard: '*' }, { text }, { wildcard: '*' }] },
  });
  const reads: number[] = [];
  // The search reads the first field as text, and only the evaluation of the second part reads the second field.
  const second: Expression = { kind: 'match', field: 'g', test: { kind: 'exists', expected: true } };
  const rules = Array.from({ length: 100 }, (_, n) => ({ kind: 'all' as const, of: [contains(`word-${n}!`), second] }));
  const set = compileRuleSet(rules, columnOf);
  const row = createFieldRow((column) => ['has Word-7! in it', 'x'][column]!);
  const counted = { ...row, text: (column: number) => (reads.push(column), row.text(column)) };
  expect(set.match(counted)).toEqual([7]);
  expect(reads).toEqual([0, 1]);
});

test('adapts to texts that occur in every row', () => {
  const is = (field: string, text: string): Expression => ({
    kind: 'match',
    field,
    test: { kind: 'text', cased: false, pattern: [{ text }] },
  });
  const set = compileRuleSet([{ kind: 'all', of: [is('f', 'common'), is('g', 'rare')] }], columnOf);
  const countReads = (): number => {
    let reads = 0;
    set.match(createFieldRow((column) => ((reads += 1), ['common', 'other'][column] ?? null)));
    return reads;
  };
  expect(countReads()).toBeGreaterThan(1);
  set.adapt([createFieldRow((column) => ['common', 'other'][column] ?? null)]);
  expect(countReads()).toBe(1);
});
