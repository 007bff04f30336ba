import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

// Words such as `none` and `unknown` are not in the table, because they can be the value that matters (`mfa=none`).
const spellings = new Set(
  readFileSync(resolve(import.meta.dirname, 'absent-values.tsv'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.slice(0, line.indexOf('\t'))),
);
const longest = Math.max(...[...spellings].map(({ length }) => length));

/** Returns whether a text is blank, or how a log source writes that there is no value, such as `-` and `(null)`. */
export function isAbsent(text: string): boolean {
  const trimmed = text.trim();
  return trimmed === '' || (trimmed.length <= longest && spellings.has(trimmed.toLowerCase()));
}
