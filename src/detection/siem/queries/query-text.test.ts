import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchName } from '../siem-errors.ts';
import { isGroupingQuery, listPipeCommands, insertWindow, removeTrailingSemicolon } from './query-text.ts';
import { isTransformingSearch, rejectSideEffects } from './splunk-query.ts';

const expressions = { condition: 'C', start: 'S', end: 'E', conditionFrom: (seconds: number) => `B${seconds}` };
// Characters that open and close quotes, comments and brackets, and others.
const letters = ["'", '"', '`', '\\', '-', '/', '*', '\n', ' ', ';', '|', '(', ')', '[', 'a', '$window', 'over'];
const fragment = fc.array(fc.constantFrom(...letters), { minLength: 1, maxLength: 6 }).map((all) => all.join(''));

describe('quotes and comments, compared with one regular expression', () => {
  const opaque = /'(?:[^'\\]|\\[^]|'')*'|"(?:[^"\\]|\\[^]|"")*"|`[^`]*`|--[^\n]*|\/\*[^]*?\*\/|\/\/[^\n]*/g;
  const query = fc.array(fragment, { maxLength: 6 }).map((all) => `${all.join('')}\n'`);

  test('inserts the window outside of them only', () => {
    fc.assert(
      fc.property(query, (text) => {
        const kept = [...text.matchAll(opaque)];
        const plain = text.split(opaque);
        const expected = plain.map((part, n) => part.replaceAll(/\$window\b/g, 'C') + (kept[n]?.[0] ?? '')).join('');
        expect(insertWindow(`$window ${text}`, expressions)).toBe(`C ${expected}`);
      }),
      { numRuns: 2000 },
    );
  });

  test('removes trailing semicolons and comments', () => {
    fc.assert(
      fc.property(query, fragment, (text, end) => {
        const statement = text + end;
        const masked = statement.replaceAll(opaque, (one) => (/^(?:--|\/)/.test(one) ? ' ' : 'x').repeat(one.length));
        expect(removeTrailingSemicolon(statement)).toBe(
          statement.slice(0, masked.trimEnd().replace(/[\s;]+$/, '').length),
        );
      }),
      { numRuns: 2000 },
    );
  });
});

test.each([
  ['standard', `a like 'C:\\' and $window and b = 'x'`, `a like 'C:\\' and C and b = 'x'`],
  ['standard', `a = E'it\\'s $window' and $window`, `a = E'it\\'s $window' and C`],
  ['standard', `a like'C:\\' and $window and b = 'x'`, `a like'C:\\' and C and b = 'x'`],
  ['escaped', `a = 'it\\'s $window' and $window`, `a = 'it\\'s $window' and C`],
  ['escaped', `P startswith @"C:\\" and $window and b == "x"`, `P startswith @"C:\\" and C and b == "x"`],
  ['escaped', "a = '$window_back_1s' and $window_back_300s and ($window)", "a = '$window_back_1s' and B300 and (C)"],
  ['escaped', `P has @'C:\\it''s $window' and $window`, `P has @'C:\\it''s $window' and C`],
] as const)('inserts the window with %s quoting: %s', (quoting, query, expected) => {
  expect(insertWindow(query, expressions, quoting)).toBe(expected);
});

test('detects grouping after a path that ends with a backslash', () => {
  expect(listPipeCommands('T | where P has @"C:\\" | summarize n = count() by U | where U != "x"')).toContain(
    'summarize',
  );
  expect(
    isGroupingQuery(`select "user", count(*) from t where p like 'C:\\' group by 1 having 'a' < 'b'`, 'standard'),
  ).toBe(true);
});

test.each([
  ['index=web uri=http://x.example | stats count by user', true],
  ['index=a msg=--x | stats count', true],
  ['index=a user="[" | stats count', true],
  ['index=a user="| stats count"', false],
  ['index=a [search index=b | stats count by user | fields user]', false],
])('detects transforming Splunk searches: %s', (query, isGroups) => {
  expect(isTransformingSearch(query)).toBe(isGroups);
});

const readers: Record<string, (text: string) => unknown> = {
  insertWindow: (text) => insertWindow(`$window ${text}`, expressions),
  'insertWindow with standard quoting': (text) => insertWindow(`$window ${text}`, expressions, 'standard'),
  listPipeCommands,
  removeTrailingSemicolon,
  isGroupingQuery,
  isTransformingSearch,
  refuseSideEffects: (text) => {
    try {
      rejectSideEffects(text);
    } catch {
      // Only the time matters here.
    }
  },
  matchName: (text) => matchName(text, /(?:expression|column)[^']* named '([^']+)'|Field \[([^\]]+)\] not found/i),
};

const small = 1_000;
const factor = 8;
/** Linear functions take about 8 times as long, quadratic ones 64 times. */
const ratioMax = 24;
const triesMax = 10;

const fastest = (work: () => unknown): number =>
  Math.min(
    ...Array.from({ length: 3 }, () => {
      const startMs = performance.now();
      work();
      return performance.now() - startMs;
    }),
  );

/**
 * Returns how much longer eight times the text takes: the minimum of many tries, because load only adds time. A try lasts for less than a
 * millisecond, which is less than other processes take a processor for.
 */
function measureRatio(read: (text: string) => unknown, textOf: (length: number) => string): number {
  const [short, long] = [textOf(small), textOf(small * factor)];
  // The clock is too coarse below 0.05 ms.
  const timeShort = (): number =>
    Math.max(
      0.05,
      fastest(() => read(short)),
    );
  let [shortMs, longMs] = [timeShort(), fastest(() => read(long))];
  for (let tries = 0; tries < triesMax && longMs > (shortMs * ratioMax) / 2; tries++) {
    longMs = Math.min(
      longMs,
      fastest(() => read(long)),
    );
    shortMs = Math.min(shortMs, timeShort());
  }
  return longMs / shortMs;
}

const repeated =
  (part: string, before = '', after = '') =>
  (length: number) =>
    before + part.repeat(Math.ceil(length / part.length)) + after;

const hostileTexts: [string, (length: number) => string][] = [
  ['escaped, unclosed quotes', repeated("\\'", "'")],
  ['escaped, unclosed double quotes', repeated('\\"', '"')],
  ['unclosed comments', repeated('/*')],
  ['a long word', repeated('a')],
  ['words around an open parenthesis', (length) => `${'a'.repeat(length / 2)}(${'b'.repeat(length / 2)}`],
  ['spaces before a last word', repeated(' ', 'a', 'b')],
  ['semicolons before a last word', repeated('; ', 'a', 'b')],
  ['pipes and spaces', repeated('|   ')],
  ['open parentheses', repeated('a(')],
  ['words that begin a matched message', repeated('column ')],
  ['brackets that begin a matched name', repeated('Field [')],
];

describe.each(Object.entries(readers))('%s takes linear time', (_name, read) => {
  test.each(hostileTexts)('for %s', (_what, textOf) => {
    expect(measureRatio(read, textOf)).toBeLessThan(ratioMax);
  });

  test('for any repeated text', () => {
    const parts = fc.tuple(fragment, fragment, fragment);
    fc.assert(
      fc.property(parts, ([before, part, after]) => measureRatio(read, repeated(part, before, after)) < ratioMax),
      { numRuns: 20, endOnFailure: true },
    );
  });
});
