import { BlockList, isIP } from 'node:net';
import { RE2JS } from 're2js';
import type { CompareOperator, Expression, FieldRelation, TimePart, ValueTest } from './expression.ts';
import { listRequiredTexts } from './regex-literal.ts';
import {
  compilePattern,
  foldCase,
  type SimpleComparison,
  simplifyPattern,
  toSimpleComparison,
} from './text-pattern.ts';

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

/** How long a kind of test takes, about. */
const testCosts: Record<ValueTest['kind'], number> = {
  exists: 1,
  text: 2,
  field: 4,
  compare: 4,
  time: 8,
  cidr: 8,
  regex: 100,
};

function costOf(expression: Expression): number {
  if (expression.kind === 'match') return testCosts[expression.test.kind];
  if (expression.kind === 'not') return costOf(expression.of);
  return expression.of.reduce((sum, one) => sum + costOf(one), 0);
}

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
      // The order changes no result, because tests have no effects.
      const parts = expression.of
        .map((one) => ({ cost: costOf(one), matches: compileExpression(one, columnOf) }))
        .toSorted((a, b) => a.cost - b.cost)
        .map(({ matches }) => matches);
      const isAll = expression.kind === 'all';
      return (row) => {
        for (const matches of parts) if (matches(row) !== isAll) return !isAll;
        return isAll;
      };
    }
  }
}

type RowTest = (row: FieldRow) => boolean;
type ColumnOf = (field: string | null) => number;

/** Returns a function that tests one column of a row. Throws an Error for an invalid regular expression. */
function compileTest(test: ValueTest, column: number, columnOf: ColumnOf): RowTest {
  switch (test.kind) {
    case 'exists':
      return (row) => (row.text(column) !== null) === test.expected;
    case 'field':
      return compileFieldTest(column, columnOf(test.other), test);
    case 'text':
      return compileTextTest(test, column);
    case 'regex':
      return compileRegexTest(test, column);
    case 'cidr':
    case 'compare':
    case 'time': {
      const matches = compileValueTest(test);
      return (row) => {
        const text = row.text(column);
        return text !== null && matches(text);
      };
    }
  }
}

function compileTextTest({ pattern, cased }: Extract<ValueTest, { kind: 'text' }>, column: number): RowTest {
  const folded = cased
    ? pattern
    : simplifyPattern(pattern.map((part) => ('text' in part ? { text: foldCase(part.text) } : part)));
  const simple = toSimpleComparison(folded);
  const matches = simple ? compileComparison(simple) : compilePattern(folded);
  return (row) => {
    const text = cased ? row.text(column) : row.folded(column);
    return text !== null && matches(text);
  };
}

/** Searches the texts that every match contains first, because that takes far less time. */
function compileRegexTest({ source, flags }: Extract<ValueTest, { kind: 'regex' }>, column: number): RowTest {
  const required = listRequiredTexts(source, flags);
  const matches = compileRegex(source, flags);
  return (row) => {
    const text = row.text(column);
    if (text === null) return false;
    const folded = row.folded(column)!;
    return required.every((texts) => texts.some((one) => folded.includes(one))) && matches(text);
  };
}

function compileComparison({ relation, text }: SimpleComparison): (value: string) => boolean {
  switch (relation) {
    case 'equals':
      return (value) => value === text;
    case 'startswith':
      return (value) => value.startsWith(text);
    case 'endswith':
      return (value) => value.endsWith(text);
    case 'contains':
      return (value) => value.includes(text);
  }
}

function compareTexts(value: string, text: string, relation: FieldRelation): boolean {
  if (relation === 'equals') return value === text;
  if (relation === 'startswith') return value.startsWith(text);
  return relation === 'endswith' ? value.endsWith(text) : value.includes(text);
}

function compileFieldTest(
  column: number,
  other: number,
  { relation, cased }: { relation: FieldRelation; cased: boolean },
): RowTest {
  return (row) => {
    const [value, text] = cased ? [row.text(column), row.text(other)] : [row.folded(column), row.folded(other)];
    return value !== null && text !== null && compareTexts(value, text, relation);
  };
}

type PlainTest = Exclude<ValueTest, { kind: 'exists' | 'field' | 'text' | 'regex' }>;

function compileValueTest(test: PlainTest): (value: string) => boolean {
  switch (test.kind) {
    case 'cidr':
      return compileNetwork(test.network);
    case 'compare':
      return (text) => {
        const number = toNumber(text);
        return number !== undefined && compareNumbers(number, test.operator, test.value);
      };
    case 'time':
      return (text) => {
        const time = toTime(text);
        return time !== undefined && timePart(time, test.part) === test.value;
      };
  }
}

/** Regular expressions have the syntax and the linear time of RE2, as in the embedded engine. */
export function compileRegex(source: string, flags: readonly string[]): (value: string) => boolean {
  const bits = { i: RE2JS.CASE_INSENSITIVE, m: RE2JS.MULTILINE, s: RE2JS.DOTALL };
  const compiled = RE2JS.compile(
    source,
    flags.reduce((sum, flag) => sum | bits[flag as keyof typeof bits], 0),
  );
  return (text) => compiled.matcher(text).find();
}

function compileNetwork(network: string): (value: string) => boolean {
  const [address = '', bits = ''] = network.split('/');
  const list = new BlockList();
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  list.addSubnet(address, Number(bits), family);
  return (text) => {
    const plain = text.split('%')[0]!;
    const version = isIP(plain);
    return version > 0 && list.check(plain, version === 6 ? 'ipv6' : 'ipv4');
  };
}

const numberText = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i;

/** Returns the number that a text stands for, in decimal notation, or undefined. */
function toNumber(text: string): number | undefined {
  return numberText.test(text) ? Number(text) : undefined;
}

function compareNumbers(a: number, operator: CompareOperator, b: number): boolean {
  if (operator === '<') return a < b;
  if (operator === '<=') return a <= b;
  return operator === '>' ? a > b : a >= b;
}

const timeText = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}(?::?\d{2})?)?)?$/;

/** Returns the time that an ISO 8601 text stands for, or undefined. A text without a zone is UTC. */
function toTime(text: string): Date | undefined {
  const match = timeText.exec(text);
  if (!match) return undefined;
  const time = new Date(`${match[1]}T${match[2] ?? '00:00'}${match[3] ?? 'Z'}`);
  return Number.isNaN(time.getTime()) ? undefined : time;
}

function timePart(time: Date, part: TimePart): number {
  const read: Record<TimePart, () => number> = {
    minute: () => time.getUTCMinutes(),
    hour: () => time.getUTCHours(),
    day: () => time.getUTCDate(),
    week: () => isoWeek(time),
    month: () => time.getUTCMonth() + 1,
    year: () => time.getUTCFullYear(),
  };
  return read[part]();
}

/** The week that contains the Thursday of the same week (ISO 8601). */
function isoWeek(time: Date): number {
  const thursday = new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()));
  thursday.setUTCDate(thursday.getUTCDate() + 4 - (thursday.getUTCDay() || 7));
  const yearStart = Date.UTC(thursday.getUTCFullYear(), 0, 1);
  return Math.ceil(((thursday.getTime() - yearStart) / 86_400_000 + 1) / 7);
}
