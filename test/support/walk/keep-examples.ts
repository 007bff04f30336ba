import type { ApiExample, ApiExamples } from '../../../src/platform/http/app-type.ts';

/**
 * Returns an example per operation. The former example of an operation stays if one of the recorded ones differs from it only in values
 * that are different in every run, so that recording again changes what the API changed and nothing else. Otherwise the first recorded
 * one replaces it.
 */
export function keepExamples(former: ApiExamples, recorded: Record<string, ApiExample[]>): ApiExamples {
  const entries = Object.entries(recorded).map(([id, examples]): [string, ApiExample] => {
    const known = former[id];
    const isKept = known !== undefined && examples.some((one) => isSame(known, one));
    return [id, isKept ? known : examples[0]!];
  });
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

const isSame = (a: ApiExample, b: ApiExample): boolean =>
  JSON.stringify(withoutRandomValues(a)) === JSON.stringify(withoutRandomValues(b));

/** Replaces IDs, keys, hashes, cursors, times and numbers. */
function withoutRandomValues(value: unknown): unknown {
  if (typeof value === 'number') return 0;
  if (typeof value === 'string') return withoutRandomParts(value);
  if (Array.isArray(value)) return value.map(withoutRandomValues);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, part]) => [withoutRandomParts(key), withoutRandomValues(part)]);
  return Object.fromEntries(entries);
}

const withoutRandomParts = (text: string): string =>
  text
    .replaceAll(/tcs_\w+/g, 'KEY')
    .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}|[\da-f]{8,}/g, 'ID')
    .replaceAll(/(?=[\w+/=-]*\d)(?=[\w+/=-]*[A-Za-z])[\w+/=-]{16,}/g, 'TOKEN')
    .replaceAll(/\d+/g, '0');
