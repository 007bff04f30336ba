import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { definitionOf, hour } from '../../../../test/support/detection/analysis-examples.ts';
import { renderRow, computeRowId } from './render-row.ts';
import type { QueryRow } from '../../siem/connector.ts';

const render = (row: QueryRow) => renderRow(row, hour(3), definitionOf('custom'));

describe('renders a field:', () => {
  test.each([
    ['text', 'cmd.exe /c dir', 'cmd.exe /c dir'],
    ['a number', 12.5, '12.5'],
    ['a boolean', false, 'false'],
    ['a big integer', 12345678901234567890n, '12345678901234567890'],
    ['NaN', Number.NaN, 'NaN'],
    ['a list, with sorted keys', [{ b: 1, a: 'x' }], '[{"a":"x","b":1}]'],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['control characters, escaped', 'a\u0000b\u001b[31m\u202ec\nd', 'a\\u0000b\\u001b[31m\\u202ec\\nd'],
    ['an unpaired surrogate, escaped', 'a\ud800b', 'a\\ud800b'],
    ['emoji', 'ok 👍', 'ok 👍'],
  ])('%s', (_name, value, text) => {
    expect(render({ field: value }).fields).toEqual({ field: text });
  });

  test.each([null, undefined, ''])('drops %j', (value) => {
    expect(render({ field: value }).fields).toEqual({});
  });
});

test('flattens nested objects and JSON text to dotted names, shallow ones first', () => {
  const { fields } = render({ user: { name: 'a', geo: { country: 'NL' } }, raw: '{"k":{"v":1}}', action: 'login' });
  expect(Object.entries(fields)).toEqual([
    ['action', 'login'],
    ['user.name', 'a'],
    ['user.geo.country', 'NL'],
    ['raw.k.v', '1'],
  ]);
});

test('omits columns of the log store, but renders the event if there is nothing else', () => {
  expect(render({ _id: 'e1', _time: '2024-01-01T02:03:04Z', _ingested: 'x', _event: { a: 1 }, b: 2 })).toEqual({
    rowId: 'e1',
    time: '2024-01-01T02:03:04.000Z',
    fields: { b: '2' },
  });
  expect(render({ _id: 'e1', _event: '{"a":{"b":1}}' }).fields).toEqual({ 'a.b': '1' });
});

test('reads the event IDs of an aggregate from a list or JSON text', () => {
  expect(render({ count: 2, _ids: ['a', 7] }).eventIds).toEqual(['a', '7']);
  expect(render({ count: 2, _ids: '["a","b"]' }).eventIds).toEqual(['a', 'b']);
});

test.each([
  ['2024-01-02T03:04:05Z', '2024-01-02T03:04:05.000Z'],
  ['2024-01-02 03:04:05.25', '2024-01-02T03:04:05.250Z'],
  ['2024-01-02T03:04:05+0200', '2024-01-02T01:04:05.000Z'],
  [1704164645, '2024-01-02T03:04:05.000Z'],
  ['1704164645000', '2024-01-02T03:04:05.000Z'],
  ['yesterday', null],
  [Number.NaN, null],
])('parses the time %j as %j', (time, iso) => {
  expect(render({ timestamp: time }).time).toBe(iso);
});

test('truncates a field at 500 characters and a row at 50 fields and 8,000 characters', () => {
  expect(render({ a: 'x'.repeat(100_000) }).fields['a']).toHaveLength(500);
  const wide = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`f${n}`, 'v']));
  expect(Object.keys(render(wide).fields)).toHaveLength(50);
  const heavy = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`f${n}`, 'v'.repeat(400)]));
  expect(JSON.stringify(Object.entries(render(heavy).fields).flat().join('')).length).toBeLessThanOrEqual(8_002);
});

test('renders fields named like built-in properties', () => {
  const row = JSON.parse('{"x":{"__proto__":"p"},"constructor":"c","toString":{"hasOwnProperty":"h"}}') as QueryRow;
  const { fields } = render(row);
  expect(Object.entries(fields).toSorted()).toEqual([
    ['constructor', 'c'],
    ['toString.hasOwnProperty', 'h'],
    ['x.__proto__', 'p'],
  ]);
});

test('terminates on very deep objects', () => {
  let deep: unknown = 'bottom';
  for (let level = 0; level < 5_000; level++) deep = { inner: deep, list: [deep] };
  expect(Object.keys(render({ deep }).fields).length).toBeLessThanOrEqual(50);
  expect(render({ text: `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}` }).fields['text']).toHaveLength(500);
});

test('derives a missing row ID from window and content only', () => {
  const id = computeRowId({ a: 1, b: { c: 2, d: 3 } }, hour(3));
  expect(computeRowId({ b: { d: 3, c: 2 }, a: 1 }, hour(3))).toBe(id);
  expect(computeRowId({ a: 1, b: { c: 2, d: 4 } }, hour(3))).not.toBe(id);
  expect(computeRowId({ a: 1, b: { c: 2, d: 3 } }, hour(4))).not.toBe(id);
  expect(computeRowId({ _id: 'x'.repeat(5_000) }, hour(3)).length).toBeLessThanOrEqual(200);
});

test('renders any row to bounded text that PostgreSQL accepts', () => {
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.string({ unit: 'binary' }),
        fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true }),
      ),
      (row) => {
        const { rowId, fields, time } = render(row);
        const texts = [rowId, time ?? '', ...Object.entries(fields).flat()];
        expect(
          texts.every(
            (text) => typeof text === 'string' && text.length <= 500 && text.isWellFormed() && !text.includes('\0'),
          ),
        ).toBe(true);
      },
    ),
    { numRuns: 300 },
  );
});

test('redacts secret fields at any depth, including inside lists', () => {
  const row = {
    secretAccessKey: 'abc',
    user: { password: 'p1', accessKeyId: 'AKIA1' },
    list: [{ apiKey: 'k1', name: 'n' }],
    nextToken: 'page2',
  };
  expect(renderRow(row, hour(0), definitionOf('custom')).fields).toEqual({
    secretAccessKey: '[redacted]',
    'user.password': '[redacted]',
    'user.accessKeyId': 'AKIA1',
    list: '[{"apiKey":"[redacted]","name":"n"}]',
    nextToken: 'page2',
  });
});
