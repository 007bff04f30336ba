import { expect, test } from 'vitest';
import { hitKey } from './hit-key.ts';

test('a hit key is a sha256 of its four parts, and no two ways of cutting them are one', () => {
  expect(hitKey('d', 'user', 'alice', 'k')).toMatch(/^[0-9a-f]{64}$/);
  const keys = [
    hitKey('d', 'user', 'alice', 'k'),
    hitKey('du', 'ser', 'alice', 'k'),
    hitKey('d', 'user', 'alic', 'ek'),
    hitKey('d', 'user,alice', '', 'k'),
    hitKey('d', 'user', 'alice"', 'k'),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  expect(hitKey('d', 'user', 'alice', 'k')).toBe(keys[0]);
});
