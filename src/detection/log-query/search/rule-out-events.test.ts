import { expect, test } from 'vitest';
import type { EventFilter } from '../../log-engine/inspection/event-filter.ts';
import type { PatternPart } from '../../matching/expression.ts';
import { commandMarks, quoteInWord } from '../../log-engine/sql/added-functions.ts';
import type { CatalogField } from '../../log-store/catalog/catalog.ts';
import { createWindowText, findRequirement } from './rule-out-events.ts';

const column = (name: string, type: CatalogField['type']): CatalogField => ({
  name,
  keys: [name],
  type,
  nested: [],
  open: false,
});
const fields = [column('action', 'VARCHAR'), column('port', 'BIGINT')];
const any: PatternPart = { wildcard: '*' };

const filter = (pattern: PatternPart[], keys = ['action'], isExact = false): EventFilter => ({
  kind: 'test',
  paths: [{ keys, isExact }],
  test: { kind: 'text', pattern, cased: true },
});
const equals = (text: string, keys?: string[]): EventFilter => filter([{ text }], keys);
const contains = (text: string, isExact = false): EventFilter => filter([any, { text }, any], ['action'], isExact);

const canMatch = (one: EventFilter, ...lines: string[]): boolean | undefined => {
  const requirement = findRequirement(one, fields);
  return requirement && createWindowText(lines.join('\n')).canMatch(requirement);
};

test.each<[string, EventFilter, string, boolean | undefined]>([
  ['a value', equals('login'), '{"action":"login"}', true],
  ['in another case', equals('Login'), '{"action":"LOGIN"}', true],
  ['part of a value', equals('login'), '{"action":"login failed"}', false],
  ['a value that may be a number', equals('1e3'), '{"action":1000.0}', undefined],
  ['a value that may be a boolean', filter([{ text: 'true' }], ['action'], true), '{"action":true}', true],
  ['an escaped letter', equals('login'), String.raw`{"action":"log\u0069n"}`, true],
  ['a letter whose lower case is ASCII', equals('kick'), String.raw`{"action":"\u212aick"}`, true],
  ['a text of letters that numbers have', contains('ana'), '{"action":"bob"}', false],
  ['an escape that encoders write', equals('login'), String.raw`{"action":"a\u0026b"}`, false],
  ['a text with a slash', contains('/evil-host'), String.raw`{"action":"\/evil-host"}`, true],
  ['a text with a backslash', contains('C:\\Temp'), String.raw`{"action":"C:\\Temp"}`, true],
  ['the text of an object', contains('":1,"name', true), '{"action":{"a": 1, "name": 2}}', true],
  ['a duplicate key', equals('login'), '{"action":"login","action":"x"}', true],
  ['a column of another type', equals('ssh', ['port']), '{"port":22}', undefined],
  ['a column that no event has', equals('ssh', ['other']), '{"port":22}', false],
  ['one of several', { kind: 'any', of: [equals('a'), equals('login')] }, '{"action":"login"}', true],
  ['one of several, one unknown', { kind: 'any', of: [equals('1'), equals('a')] }, '{}', undefined],
  ['both', { kind: 'all', of: [equals('login'), equals('1'), contains('absent')] }, '{"action":"login"}', false],
])('finds out about %s', (_, one, line, expected) => {
  expect(canMatch(one, line)).toBe(expected);
});

test('requires the texts in one event', () => {
  const both: EventFilter = { kind: 'all', of: [equals('login'), contains('ana')] };
  expect(canMatch(both, '{"action":"login"}', '{"action":"x","user":"ana"}')).toBe(false);
  expect(canMatch(both, '{"action":"x"}', '{"action":"login","user":"ana"}')).toBe(true);
  expect(canMatch(both, '{"action":"x"}', String.raw`{"action":"l\u006fgin","user":"ana"}`)).toBe(true);
});

test.each([...commandMarks.map((mark) => `net${mark}user`), 'net""user', 'n"et user'])(
  'a command with a mark can have other words than the event: %s',
  (command) => {
    const hidden = [...commandMarks, '""'].map((text) => contains(text));
    const quoted: EventFilter = {
      kind: 'test',
      paths: [{ keys: ['action'], isExact: true }],
      test: { kind: 'regex', source: quoteInWord, flags: [] },
    };
    const one: EventFilter = { kind: 'any', of: [contains('net user'), ...hidden, quoted] };
    expect(canMatch(one, JSON.stringify({ action: command }))).toBe(true);
    const escaped = JSON.stringify({ action: command }).replace(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16)}`);
    expect(canMatch(one, escaped)).toBe(true);
    expect(canMatch(one, JSON.stringify({ action: '"C:\\net.exe" "user"' }))).toBe(false);
  },
);
