import { expect, test } from 'vitest';
import { isPastFolder } from './log-folder.ts';

const since = new Date('2026-03-10T12:00:00Z');

test.each([
  ['AWSLogs/1/CloudTrail/us-east-1/', false],
  ['AWSLogs/1/CloudTrail/us-east-1/2025/', true],
  ['AWSLogs/1/CloudTrail/us-east-1/2026/', false],
  ['AWSLogs/1/CloudTrail/us-east-1/2026/02/', true],
  ['AWSLogs/1/CloudTrail/us-east-1/2026/03/', false],
  ['AWSLogs/1/CloudTrail/us-east-1/2026/03/08/', true],
  ['AWSLogs/1/CloudTrail/us-east-1/2026/03/09/', false],
  ['AWSLogs/1/CloudTrail/us-east-1/2026/03/11/', false],
  ['flows/year=2026/month=02/', true],
  ['flows/year=2026/month=03/day=08/', true],
  ['flows/year=2026/month=03/day=10/hour=01/', false],
  ['2025/', true],
  ['report-2025/', false],
  ['AWSLogs/123420250000/', false],
])('%s: skipped %s', (path, isPast) => {
  expect(isPastFolder(path, since)).toBe(isPast);
});
