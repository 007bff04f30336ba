import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { dataDir } from '../test/support/data.ts';

/** Returns the folder of the recorded inputs. */
export function requireData(): string {
  const dir = dataDir();
  if (!dir) throw new Error('The recorded inputs are missing. Set TOCSIN_TEST_DATA to their folder.');
  return dir;
}

/** Reads the rows of a gzipped NDJSON file of the recorded inputs. */
export function readRecordedRows<Row>(name: string): Row[] {
  const text = gunzipSync(readFileSync(join(requireData(), name))).toString('utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
}

export function readRecordedJson<Value>(name: string): Value {
  const bytes = readFileSync(join(requireData(), name));
  return JSON.parse((name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')) as Value;
}
