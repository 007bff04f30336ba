import { expect, test } from 'vitest';
import { decodeBody } from '../../../../test/support/detection/decode-body.ts';

const decode = (lines: (object | string)[], index?: string) =>
  decodeBody(
    { kind: 'bulk', index },
    lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''),
  );

test('decodes the actions that store documents', () => {
  const at = { '@timestamp': '2026-03-01T10:00:00.000Z' };
  const decoded = decode(
    [
      { index: {} },
      { ...at, message: 'one' },
      { create: { _index: 'web-2026.03.01', _id: 'a b' } },
      { message: 'two' },
      { create: { _index: 'filebeat-8.15.0', _id: 7, pipeline: 'x', _type: '_doc' } },
      { event: { dataset: 'system.auth' } },
    ],
    'fluent-bit',
  );
  expect(decoded).toEqual([
    { item: 1, dataset: 'fluent_bit', event: { ...at, message: 'one' }, time: at['@timestamp'] },
    { item: 2, dataset: 'web', event: { message: 'two' }, id: 'a b' },
    { item: 3, dataset: 'system_auth', event: { event: { dataset: 'system.auth' } }, id: '7' },
  ]);
});

test('rejects single items with the reason', () => {
  const rejected = decode([
    { delete: { _index: 'web', _id: '1' } },
    { update: { _index: 'web', _id: '1' } },
    { doc: {} },
    { index: {} },
    { message: 'no index' },
    { index: { _index: 'web' } },
    '{"message":',
    { index: { _index: 'web' } },
    '[1]',
    { index: { _index: 'web', _id: 'x'.repeat(513) } },
    {},
    { index: { _index: 'web', _id: 'a\tb' } },
    {},
    { index: { _index: 'web' } },
    `{"message":"${'x'.repeat(1_100_000)}"}`,
  ]);
  expect(rejected.map(({ event }) => event)).toEqual([
    'delete is not supported',
    'update is not supported',
    '_index is missing in the action and in the path',
    'not valid JSON',
    'not a JSON object',
    '_id has a control character or is longer than 512 bytes',
    '_id has a control character or is longer than 512 bytes',
    'the document is too large',
  ]);
  expect(rejected.map(({ item }) => item)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

test.each([
  [['{"message":"no action"}'], 'line [1]'],
  [[{ index: {} }, {}, 'x'], 'line [3]'],
  [[{ index: {}, create: {} }, {}], 'line [1]'],
  [[{ index: { _index: 1 } }, {}], '_index is not a string'],
  [[{ index: { _index: 'web' } }], 'has no document'],
])('rejects a body with the malformed action %j', (lines, message) => {
  expect(() => decode(lines)).toThrow(message);
});
