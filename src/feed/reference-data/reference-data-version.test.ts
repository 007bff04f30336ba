import { mkdirSync, mkdtempSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { getReferenceDataVersion } from './reference-data-version.ts';

test('knowledge counts by its newest file; what is being written is none', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'taken-at-'));
  expect(getReferenceDataVersion(dataDir)).toBe(0);
  mkdirSync(join(dataDir, 'knowledge'));
  const hold = (name: string, time: string): void => {
    writeFileSync(join(dataDir, 'knowledge', name), '{}');
    utimesSync(join(dataDir, 'knowledge', name), new Date(time), new Date(time));
  };
  hold('names.json', '2025-01-01T01:00:00Z');
  hold('warninglists.json.gz', '2025-01-01T00:30:00Z');
  hold('attack.json.new', '2025-01-02T00:00:00Z');
  expect(getReferenceDataVersion(dataDir)).toBe(60);
  hold('warninglists.json.gz', '2025-01-01T01:00:01Z');
  expect(getReferenceDataVersion(dataDir)).toBe(61);
});
