import { hash } from 'node:crypto';

const depthMax = 20;

/** JSON with sorted keys, so that equal values have equal text. Beyond 20 levels a value is only named by its kind. */
export function canonicalJson(value: unknown, depth = 0): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Date) return JSON.stringify(dateText(value));
  if (typeof value === 'number') return Number.isFinite(value) ? JSON.stringify(value) : `"${value}"`;
  if (typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (depth >= depthMax) return Array.isArray(value) ? '"[list]"' : '"[object]"';
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item, depth + 1)).join(',')}]`;
  const parts = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner, depth + 1)}`);
  return `{${parts.join(',')}}`;
}

/** One value as text; undefined for what carries nothing (null, undefined, the empty string). */
export function canonicalText(value: unknown): string | undefined {
  if (value === null || value === undefined || value === '') return undefined;
  if (typeof value === 'string') return value;
  if (value instanceof Date) return dateText(value);
  if (typeof value === 'object') return canonicalJson(value);
  return typeof value === 'function' || typeof value === 'symbol' ? undefined : String(value);
}

function dateText(date: Date): string {
  return Number.isNaN(date.getTime()) ? 'invalid date' : date.toISOString();
}

// Controls, bidirectional and zero-width marks, line separators, private characters and lone surrogates: what could hide or reorder text.
const hidden =
  /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ue000-\uf8ff\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const shortNames: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** The same text with every character that could not be seen, or not be stored, written out (`\u0000`). */
export function visibleText(text: string): string {
  return text.replace(hidden, (char) => shortNames[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** At most `max` characters, the last one an ellipsis when something was cut; never half of a pair of surrogates. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const head = text.slice(0, max - 1);
  return `${/[\ud800-\udbff]$/.test(head) ? head.slice(0, -1) : head}…`;
}

/** A text that may be long, made short enough for a key or an index: the head stays readable, the hash keeps it apart from others. */
export function boundedText(text: string, max = 200): string {
  return text.length <= max ? text : `${cutText(text, max - 17)}#${hash('sha256', text).slice(0, 16)}`;
}

/** Order by UTF-16 code units: the same on every machine, unlike `localeCompare`. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
