import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectLinearTime, repeated } from '../../../test/support/linear-time.ts';
import { matchName } from './siem-errors.ts';
import { isGroupingQuery, listPipeCommands, insertWindow, removeTrailingSemicolon } from './query-text.ts';
import { isTransformingSearch, rejectSideEffects } from './connectors/splunk.ts';

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

const size = 8_000;

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
  test.each(hostileTexts)('for %s', (_what, textOf) => expectLinearTime(textOf, read, size));

  test('for any repeated text', async () => {
    const parts = fc.tuple(fragment, fragment, fragment);
    await fc.assert(
      fc.asyncProperty(parts, ([before, part, after]) => expectLinearTime(repeated(part, before, after), read, size)),
      { numRuns: 20, endOnFailure: true },
    );
  });
});
