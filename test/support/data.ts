import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

/** The folder of recorded real inputs, or undefined where this checkout has none beside it (such tests then say so and are skipped). */
export function dataDir(): string | undefined {
  const dir = resolve(import.meta.dirname, '../..', process.env['TOCSIN_TEST_DATA'] ?? '../shared/data');
  if (existsSync(dir)) return dir;
  console.warn(`The recorded inputs are absent (${dir}): the tests that read them are skipped.`);
  return undefined;
}
