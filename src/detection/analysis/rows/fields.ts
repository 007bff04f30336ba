import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { QueryRow } from '../../siem/connector.ts';

const jsonTextMax = 65_536;

/** Returns a value that is an object, or the object in JSON text, because some engines return objects as text. */
export function parseObject(value: unknown): QueryRow | undefined {
  if (typeof value === 'string') {
    if (!value.startsWith('{') || !value.endsWith('}') || value.length > jsonTextMax) return undefined;
    try {
      return parseObject(JSON.parse(value) as unknown);
    } catch {
      return undefined;
    }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Date) return undefined;
  return value as QueryRow;
}

/** Returns the value of a column, or of a dotted path into nested objects. Reads own properties only. */
export function findField(row: QueryRow, path: string): unknown {
  if (Object.hasOwn(row, path)) return row[path];
  for (let dot = path.indexOf('.'); dot > 0; dot = path.indexOf('.', dot + 1)) {
    const head = path.slice(0, dot);
    const inner = Object.hasOwn(row, head) ? parseObject(row[head]) : undefined;
    const value = inner && findField(inner, path.slice(dot + 1));
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

/** Like `findField`, but matches names without regard to case if none is equal. For names that a user configures. */
export function findFieldAnyCase(row: QueryRow, path: string): unknown {
  const exact = findField(row, path);
  if (exact !== undefined) return exact;
  const lower = path.toLowerCase();
  for (const name of Object.keys(row)) {
    const lowerName = name.toLowerCase();
    if (lowerName === lower) return row[name];
    if (!lower.startsWith(`${lowerName}.`)) continue;
    const inner = parseObject(row[name]);
    const value = inner && findFieldAnyCase(inner, path.slice(name.length + 1));
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

const decimal = /^-?\d{1,30}(\.\d{1,30})?([eE][+-]?\d{1,3})?$/;

/** Returns a finite number, also from decimal text, because some engines return all values as text. */
export function parseNumber(value: unknown): number | undefined {
  if (typeof value === 'bigint') return Number(value);
  const number = typeof value === 'string' && decimal.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Returns the list in a column such as `_ids`, which may be JSON text. */
export function parseList(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'string' || !value.startsWith('[') || value.length > jsonTextMax) return [];
  try {
    const list: unknown = JSON.parse(value);
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}

type RowField = [field: string, value: unknown];

const depthMax = 8;
const fieldsMax = 400;

/**
 * Returns the fields of a row under dotted names, shallow ones first. Lists are not flattened. Omits the log store's own columns, which
 * begin with `_`, but reads `_event` if the row has nothing else.
 */
export function flattenRow(row: QueryRow): RowField[] {
  const columns = Object.keys(row).filter((column) => !column.startsWith('_'));
  if (columns.length > 0 || !Object.hasOwn(row, '_event')) return flatten(columns.map((name) => [name, row[name]]));
  return flatten(Object.entries(parseObject(row['_event']) ?? {}));
}

function flatten(columns: RowField[]): RowField[] {
  const fields: RowField[] = [];
  let level = columns;
  for (let depth = 0; level.length > 0 && fields.length < fieldsMax; depth++) {
    const next: RowField[] = [];
    for (const [field, value] of level) {
      const inner = depth < depthMax ? parseObject(value) : undefined;
      if (!inner) fields.push([field, value]);
      else for (const key of Object.keys(inner).slice(0, fieldsMax)) next.push([`${field}.${key}`, inner[key]]);
    }
    level = next;
  }
  return fields.slice(0, fieldsMax);
}

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
