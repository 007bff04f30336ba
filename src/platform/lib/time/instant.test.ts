import { expect, test } from 'vitest';
import { isInstant } from './instant.ts';

test.each([
  ['2026-03-02T00:00:00Z', true],
  ['2026-03-02T00:00:00.123456+14:00', true],
  ['0001-01-01T00:00:00Z', true],
  ['9999-12-31T23:59:59.999Z', true],
  ['0000-12-31T23:59:59Z', false],
  ['0001-01-01T00:00:00+00:01', false],
  ['9999-12-31T23:59:59-00:01', false],
  ['2026-02-30T00:00:00Z', false],
  ['2026-03-02', false],
  ['yesterday', false],
])('isInstant(%s) is %s', (text, expected) => {
  expect(isInstant(text)).toBe(expected);
});
