import { expect, test } from 'vitest';
import { createHitKey } from './hit-key.ts';

test('returns a distinct SHA-256 for each split of the same text into four parts', () => {
  expect(createHitKey('d', 'user', 'alice', 'k')).toMatch(/^[0-9a-f]{64}$/);
  const keys = [
    createHitKey('d', 'user', 'alice', 'k'),
    createHitKey('du', 'ser', 'alice', 'k'),
    createHitKey('d', 'user', 'alic', 'ek'),
    createHitKey('d', 'user,alice', '', 'k'),
    createHitKey('d', 'user', 'alice"', 'k'),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  expect(createHitKey('d', 'user', 'alice', 'k')).toBe(keys[0]);
});
