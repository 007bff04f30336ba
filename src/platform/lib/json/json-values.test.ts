import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseExactJson } from './json-values.ts';
import { expectLinearTime, repeated } from '../../../../test/support/linear-time.ts';

const long = '9007199254740993';

test.each([
  [long, long],
  [` -${long} `, `-${long}`],
  [`[1,${long} ]`, [1, long]],
  [`{"a":"x,${long},\\"","b":${long}}`, { a: `x,${long},"`, b: long }],
  [`{"${long}":[${long},12345678901234567890]}`, { [long]: [long, '12345678901234567890'] }],
  [
    `[0.${long}, ${long}.5, 1e300, 1234567890123456]`,
    [Number(`0.${long}`), Number(`${long}.5`), 1e300, 1234567890123456],
  ],
])('parses %s', (text, value) => {
  expect(parseExactJson(text)).toEqual(value);
});

const isLong = (value: unknown): boolean => /^-?\d{16,}$/.test(JSON.stringify(value)) && !Number.isSafeInteger(value);
const longAsText = (_key: string, value: unknown): unknown => (isLong(value) ? String(value) : value);

test('equals JSON.parse except for long integers', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (value, text) => {
      const json = JSON.stringify([value, text]);
      const expected: unknown = JSON.parse(json, longAsText);
      expect(parseExactJson(json)).toEqual(expected);
      expect(parseExactJson(`[${long},${json}]`)).toEqual([long, expected]);
    }),
  );
});

test.each([`0${long}`, `[${long}a]`, `[${long}`, `"${long}`, `"a",${long}`])('rejects %s', (text) => {
  expect(() => parseExactJson(text)).toThrow(SyntaxError);
});

test.each(['', '\\'])('rejects an unclosed string that ends with %j in linear time', async (end) => {
  const reject = (text: string): void => expect(() => parseExactJson(text)).toThrow(SyntaxError);
  await expectLinearTime(repeated('\\"', `[${long},"`, end), reject, 400_000);
});
