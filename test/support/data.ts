import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

/** Returns the directory of recorded real inputs, or undefined if it is missing. Tests that need it then say so and are skipped. */
export function dataDir(): string | undefined {
  const dir = resolve(import.meta.dirname, '../..', process.env['TOCSIN_TEST_DATA'] ?? '../shared/data');
  if (existsSync(dir)) return dir;
  console.warn(`The recorded inputs are absent (${dir}): the tests that read them are skipped.`);
  return undefined;
}
