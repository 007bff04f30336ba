import { hash } from 'node:crypto';

const depthMax = 20;

/** Returns JSON with sorted keys, so that equal values have equal text. Values nested deeper than 20 levels become `[list]` or `[object]`. */
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
    .toSorted(([a], [b]) => compareCodeUnits(a, b))
    .map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner, depth + 1)}`);
  return `{${parts.join(',')}}`;
}

/** Returns a value as text, or undefined for null, undefined and the empty string. */
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

// Control characters, bidirectional and zero-width marks, line separators, private-use characters and lone surrogates.
const invisible =
  /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ue000-\uf8ff\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const shortNames: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Escapes every character that is invisible, reorders text or cannot be stored (as in `\u0000`). */
export function escapeInvisible(text: string): string {
  return text.replace(
    invisible,
    (char) => shortNames[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Returns at most `max` characters, ending in an ellipsis if the text was cut. Never splits a surrogate pair. */
export function truncateText(text: string, max: number): string {
  if (text.length <= max) return text;
  const head = text.slice(0, max - 1);
  return `${/[\ud800-\udbff]$/.test(head) ? head.slice(0, -1) : head}…`;
}

/** Shortens a text for use in a key or an index: keeps a readable head and appends a hash so that different texts stay different. */
export function shortenText(text: string, max = 200): string {
  return text.length <= max ? text : `${truncateText(text, max - 17)}#${hash('sha256', text).slice(0, 16)}`;
}

/** Compares by UTF-16 code units, which unlike `localeCompare` results in the same order on every machine. */
export function compareCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

// A single space, which is most of the white space, does not match. The class `[^\S ]` takes three times as long.
const foldedWhitespace = /(?! (?!\s))\s+/g;

/** Replaces each run of white space by a space. */
export const foldWhitespace = (text: string): string => text.replaceAll(foldedWhitespace, ' ');

/** Returns the last part of a dotted field name in lower case, letters and digits only: `userIdentity.user_Name` → `username`. */
export function plainFieldName(field: string): string {
  return field
    .slice(field.lastIndexOf('.') + 1)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '');
}
