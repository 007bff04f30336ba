import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { getReferenceDataVersion, nextReferenceDataVersion, versionPath } from './installed-data.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'reference-data-version-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

test('the version is 0 without installed data, counts minutes, and increases with every update', () => {
  const hourLater = new Date('2025-01-01T01:00:00Z');
  expect(getReferenceDataVersion(dataDir)).toBe(0);
  expect(nextReferenceDataVersion(dataDir, hourLater)).toBe(60);
  mkdirSync(join(dataDir, 'knowledge'));
  writeFileSync(versionPath(dataDir), '60\n');
  expect(getReferenceDataVersion(dataDir)).toBe(60);
  expect(nextReferenceDataVersion(dataDir, hourLater)).toBe(61);
  expect(nextReferenceDataVersion(dataDir, new Date('2025-01-01T02:00:30Z'))).toBe(121);
});

test('an unreadable version counts as 0', () => {
  mkdirSync(join(dataDir, 'knowledge'), { recursive: true });
  writeFileSync(versionPath(dataDir), 'no number');
  expect(getReferenceDataVersion(dataDir)).toBe(0);
});
