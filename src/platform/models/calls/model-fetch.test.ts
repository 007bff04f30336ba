import { expect, test } from 'vitest';
import { readRetryAfter } from './model-fetch.ts';

const now = Date.parse('2026-01-01T00:00:00Z');

test.each<[string, Record<string, string>, number | undefined]>([
  ['milliseconds, before seconds', { 'retry-after-ms': '1500', 'retry-after': '30' }, 1500],
  ['seconds', { 'retry-after': '2' }, 2000],
  ['a date', { 'retry-after': 'Thu, 01 Jan 2026 00:00:07 GMT' }, 7000],
  ['a date in the past', { 'retry-after': 'Wed, 31 Dec 2025 23:59:00 GMT' }, 0],
  ['nonsense', { 'retry-after': 'soon' }, undefined],
  ['nothing', {}, undefined],
])('reads a wait in %s', (_name, headers, expected) => {
  expect(readRetryAfter({ headers: new Headers(headers), responseBody: '' }, now)).toBe(expected);
});

test("reads Gemini's wait in the error document", () => {
  const responseBody = '{"error": {"details": [{"retryDelay": "34.5s"}]}}';
  expect(readRetryAfter({ headers: new Headers(), responseBody }, now)).toBe(34_500);
});
