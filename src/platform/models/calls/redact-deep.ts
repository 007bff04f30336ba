import { redactText } from '../../lib/text/redact.ts';

/** Redacts secrets in every string of a JSON value. */
export function redactDeep(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return value.map(redactDeep);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redactDeep(inner)]));
}
