import { expect, test } from 'vitest';
import { keepEntries, keptMaxChars, type KeptEntries } from './select-entries.ts';

const kept = (content: string): KeptEntries => ({
  entries: [{ recordId: 'a', hash: 'h', content }],
  hasPages: true,
  downloadedAt: '2026-03-02T00:00:00.000Z',
  quietUntil: '2026-03-09T00:00:00.000Z',
  etag: undefined,
  lastModified: undefined,
});

test.each([
  ['a text', 'Report 💥', true],
  ['a text that is too large', 'x'.repeat(keptMaxChars), false],
  ['U+0000', 'a\u0000b', false],
  ['a lone surrogate', 'a\ud83d', false],
])('decides whether an entry can be stored: %s', (_name, content, isKept) => {
  expect(keepEntries(kept(content)) !== undefined).toBe(isKept);
});

test('keeps nothing without entries', () => {
  expect(keepEntries({ ...kept(''), entries: [] })).toBeUndefined();
});
