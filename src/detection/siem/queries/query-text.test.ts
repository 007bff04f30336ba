import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchName } from '../siem-errors.ts';
import { isGroupingQuery, listPipeCommands, insertWindow, removeTrailingSemicolon } from './query-text.ts';
import { isTransformingSearch, rejectSideEffects } from './splunk-query.ts';

const words = { condition: 'C', start: 'S', end: 'E' };
// Letters that open and close something, and some that do not.
const letters = ["'", '"', '`', '\\', '-', '/', '*', '\n', ' ', ';', '|', '(', ')', '[', 'a', '$window', 'over'];
const fragment = fc.array(fc.constantFrom(...letters), { minLength: 1, maxLength: 6 }).map((all) => all.join(''));

describe('quotes and comments, against one expression that says what they are', () => {
  const opaque = /'(?:[^'\\]|\\[^]|'')*'|"(?:[^"\\]|\\[^]|"")*"|`[^`]*`|--[^\n]*|\/\*[^]*?\*\/|\/\/[^\n]*/g;
  const query = fc.array(fragment, { maxLength: 6 }).map((all) => `${all.join('')}\n'`);

  test('a window is placed in what stands outside of them', () => {
    fc.assert(
      fc.property(query, (text) => {
        const kept = [...text.matchAll(opaque)];
        const plain = text.split(opaque);
        const expected = plain.map((part, n) => part.replaceAll(/\$window\b/g, 'C') + (kept[n]?.[0] ?? '')).join('');
        expect(insertWindow(`$window ${text}`, words)).toBe(`C ${expected}`);
      }),
      { numRuns: 2000 },
    );
  });

  test('a semicolon at the end goes, with what is remarked behind it', () => {
    fc.assert(
      fc.property(query, fragment, (text, end) => {
        const given = text + end;
        const seen = given.replaceAll(opaque, (one) => (/^(?:--|\/)/.test(one) ? ' ' : 'x').repeat(one.length));
        expect(removeTrailingSemicolon(given)).toBe(given.slice(0, seen.trimEnd().replace(/[\s;]+$/, '').length));
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
  ['escaped', `P has @'C:\\it''s $window' and $window`, `P has @'C:\\it''s $window' and C`],
] as const)('%s: %s', (quoting, given, placed) => {
  expect(insertWindow(given, words, quoting)).toBe(placed);
});

test('a path that ends with a backslash hides no grouping', () => {
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
])('Splunk: %s', (query, isGroups) => {
  expect(isTransformingSearch(query)).toBe(isGroups);
});

const readers: Record<string, (text: string) => unknown> = {
  placeWindow: (text) => insertWindow(`$window ${text}`, words),
  'placeWindow of PostgreSQL': (text) => insertWindow(`$window ${text}`, words, 'standard'),
  listPipeCommands,
  removeTrailingSemicolon,
  isGroupingQuery,
  isTransformingSearch,
  refuseSideEffects: (text) => {
    try {
      rejectSideEffects(text);
    } catch {
      // Whatever it refuses, it is to be quick.
    }
  },
  'a column that an engine does not know': (text) =>
    matchName(text, /(?:expression|column)[^']* named '([^']+)'|Field \[([^\]]+)\] not found/i),
};

const small = 4_000;
const factor = 4;
/** What takes time by the length takes about 4 times as long, what takes it by the square 16 times. */
const ratioMax = 9;

const fastest = (work: () => unknown): number =>
  Math.min(
    ...Array.from({ length: 3 }, () => {
      const begun = performance.now();
      work();
      return performance.now() - begun;
    }),
  );

/** How much longer four times the text takes; the least of several tries, since a busy machine only makes it longer. */
function ratioOf(read: (text: string) => unknown, textOf: (length: number) => string): number {
  let least = Infinity;
  for (let tries = 0; tries < 4 && least > ratioMax; tries++) {
    const [short, long] = [textOf(small), textOf(small * factor)];
    // Below a twentieth of a millisecond a clock tells little.
    least = Math.min(
      least,
      fastest(() => read(long)) /
        Math.max(
          0.05,
          fastest(() => read(short)),
        ),
    );
  }
  return least;
}

const repeated =
  (part: string, before = '', after = '') =>
  (length: number) =>
    before + part.repeat(Math.ceil(length / part.length)) + after;

const nasty: [string, (length: number) => string][] = [
  ['quotes that are escaped and never closed', repeated("\\'", "'")],
  ['double quotes that are escaped and never closed', repeated('\\"', '"')],
  ['comments that are opened and never closed', repeated('/*')],
  ['a long word', repeated('a')],
  ['a word and an open bracket', (length) => `${'a'.repeat(length / 2)}(${'b'.repeat(length / 2)}`],
  ['blanks before a last word', repeated(' ', 'a', 'b')],
  ['semicolons before a last word', repeated('; ', 'a', 'b')],
  ['pipes and blanks', repeated('|   ')],
  ['open brackets', repeated('a(')],
  ['words that begin a message', repeated('column ')],
  ['brackets that begin a name', repeated('Field [')],
];

describe.each(Object.entries(readers))('the time of %s grows with the text, not with its square', (_name, read) => {
  test.each(nasty)('%s', (_what, textOf) => {
    expect(ratioOf(read, textOf)).toBeLessThan(ratioMax);
  });

  test('whatever is repeated', () => {
    const given = fc.tuple(fragment, fragment, fragment);
    fc.assert(
      fc.property(given, ([before, part, after]) => ratioOf(read, repeated(part, before, after)) < ratioMax),
      { numRuns: 20, endOnFailure: true },
    );
  });
});
