import { expect, test } from 'vitest';
import type { Expression, ValueTest } from '../../matching/expression.ts';
import { UnsupportedError } from './dialect.ts';
import { anyText, parsePattern } from '../../matching/text-pattern.ts';
import { type SiemKind, findConnector, siemKinds } from '../connectors/registry.ts';

/** The literals of each language, as its grammar defines them. */
const literals: Record<SiemKind, RegExp> = {
  local: /\('(?:[^']|'')*'(?: \|\| (?:chr\(0\)|'(?:[^']|'')*'))+\)|'(?:[^']|'')*'/g,
  postgres: /E'(?:[^'\\]|''|\\[^])*'|'(?:[^']|'')*'/g,
  clickhouse: /'(?:[^'\\]|\\[^])*'/g,
  elasticsearch: /"(?:[^"\\\r\n]|\\["\\nrt])*"/g,
  opensearch: /'(?:[^'\\]|''|\\[^])*'/g,
  splunk: /"(?:[^"\\]|\\[^])*"/g,
  sentinel: /"(?:[^"\\\r\n]|\\[^])*"/g,
};
const hostile = [
  "'", "''", "' OR 1=1 --", "\\", "\\'", "\\\\'", '"', '\\"', '"""', '`', '``', '| delete', '[ search x ]', '$window', '$window_start', '%', '_', '!', '!%',
  '/*', '*/', '--', '//', ';', '\n| where true', '\r', '\t', '\0', '\u2028', '%27', "E'", '$$', '${x}', '{{x}}', '(?i)', '.*', '^$', 'a|b', '😀', 'İſK', '\u202e',
]; // prettier-ignore
const tests: ((value: string) => ValueTest)[] = [
  (value) => ({ kind: 'text', pattern: [{ text: value }], cased: false }),
  (value) => ({ kind: 'text', pattern: [{ text: value }], cased: true }),
  (value) => ({ kind: 'text', pattern: [anyText, { text: value }, anyText], cased: false }),
  (value) => ({ kind: 'text', pattern: [{ text: value }, anyText], cased: false }),
  (value) => ({ kind: 'text', pattern: [anyText, { text: value }], cased: true }),
  (value) => ({ kind: 'text', pattern: [...parsePattern('x?y'), { text: value }], cased: false }),
];

const write = (kind: SiemKind, test: ValueTest): string => {
  const where: Expression = { kind: 'all', of: [{ kind: 'match', field: 'f', test }] };
  const fields = [{ name: 'f', names: ['f'] }];
  return findConnector(kind).dialect.writeRule({
    table: 't',
    time: 'ts',
    fields,
    columns: ['f'],
    constants: {},
    where,
  });
};
/** Returns a query without its literals. Lower-cased and plain comparisons count as the same. */
const shapeOf = (kind: SiemKind, query: string): string =>
  query.replaceAll(literals[kind], '§').replaceAll(/, \d+\)/g, ', n)');

test.each(siemKinds)('no value leaves its literal in %s', (kind) => {
  for (const make of tests) {
    const shapes = new Set(['Plain', 'per.cent-1'].map((value) => shapeOf(kind, write(kind, make(value)))));
    // A value without letters needs no change of case.
    const caseless = new Set(['1'].map((value) => shapeOf(kind, write(kind, make(value)))));
    for (const value of hostile) {
      let query: string;
      try {
        query = write(kind, make(`a${value}`));
      } catch (error) {
        if (error instanceof UnsupportedError) continue;
        throw error;
      }
      const shape = shapeOf(kind, query);
      expect([value, query, shapes.has(shape) || caseless.has(shape)]).toEqual([value, query, true]);
      expect(query).not.toContain('\0');
      if (kind === 'splunk') expect(query).not.toMatch(/[`[\]]|\| *delete/);
    }
  }
});
