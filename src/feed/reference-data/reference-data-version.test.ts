import { mkdirSync, mkdtempSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { getReferenceDataVersion } from './reference-data-version.ts';

test('returns the minute of the newest installed file and ignores files that are being written', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'reference-data-version-'));
  expect(getReferenceDataVersion(dataDir)).toBe(0);
  mkdirSync(join(dataDir, 'knowledge'));
  const install = (name: string, time: string): void => {
    writeFileSync(join(dataDir, 'knowledge', name), '{}');
    utimesSync(join(dataDir, 'knowledge', name), new Date(time), new Date(time));
  };
  install('names.json', '2025-01-01T01:00:00Z');
  install('warninglists.json.gz', '2025-01-01T00:30:00Z');
  install('attack.json.new', '2025-01-02T00:00:00Z');
  expect(getReferenceDataVersion(dataDir)).toBe(60);
  install('warninglists.json.gz', '2025-01-01T01:00:01Z');
  expect(getReferenceDataVersion(dataDir)).toBe(61);
});
