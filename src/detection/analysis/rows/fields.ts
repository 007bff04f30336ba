import type { Row } from '../../siem/connector.ts';

const jsonTextMax = 65_536;

/** The object in a value: itself, or parsed where an engine hands objects out as JSON text. */
export function objectIn(value: unknown): Row | undefined {
  if (typeof value === 'string') {
    if (!value.startsWith('{') || !value.endsWith('}') || value.length > jsonTextMax) return undefined;
    try {
      return objectIn(JSON.parse(value) as unknown);
    } catch {
      return undefined;
    }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Date) return undefined;
  return value as Row;
}

/** The value at a name that may be dotted: a column of that very name, else a path into nested objects. Own properties only. */
export function lookup(row: Row, path: string): unknown {
  if (Object.hasOwn(row, path)) return row[path];
  for (let dot = path.indexOf('.'); dot > 0; dot = path.indexOf('.', dot + 1)) {
    const head = path.slice(0, dot);
    const inner = Object.hasOwn(row, head) ? objectIn(row[head]) : undefined;
    const found = inner && lookup(inner, path.slice(dot + 1));
    if (found !== undefined && found !== null) return found;
  }
  return undefined;
}

const decimal = /^-?\d{1,30}(\.\d{1,30})?([eE][+-]?\d{1,3})?$/;

/** The finite number in a value; decimal text counts, since some engines hand every value out as text. */
export function numberIn(value: unknown): number | undefined {
  if (typeof value === 'bigint') return Number(value);
  const number = typeof value === 'string' && decimal.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** The list in a column such as `_ids`: itself, or parsed from JSON text. */
export function listIn(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'string' || !value.startsWith('[') || value.length > jsonTextMax) return [];
  try {
    const list: unknown = JSON.parse(value);
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}
