import { foldCase } from './text-pattern.ts';
import type { Expression } from './expression.ts';

/** The values of one event that a set of rules reads, as text by column. A missing value is null. Case is folded once for each value. */
export type FieldRow = {
  text: (column: number) => string | null;
  folded: (column: number) => string | null;
};

/** Creates a row of values that `read` returns. The case of a value is folded at most once, and only if a rule needs it. */
export function createFieldRow(read: (column: number) => string | null): FieldRow {
  // Most rows match nothing and need no folded value.
  let folded: Map<number, string> | undefined;
  return {
    text: read,
    folded: (column) => {
      const known = folded?.get(column);
      if (known !== undefined) return known;
      const value = read(column);
      if (value === null) return null;
      const lower = foldCase(value);
      folded ??= new Map();
      folded.set(column, lower);
      return lower;
    },
  };
}

/** Returns an expression with other names of its fields. */
export function renameFields(expression: Expression, rename: (field: string | null) => string | null): Expression {
  if (expression.kind === 'not') return { kind: 'not', of: renameFields(expression.of, rename) };
  if (expression.kind !== 'match')
    return { kind: expression.kind, of: expression.of.map((one) => renameFields(one, rename)) };
  const { test } = expression;
  return {
    kind: 'match',
    field: rename(expression.field),
    test: test.kind === 'field' ? { ...test, other: rename(test.other)! } : test,
  };
}

/**
 * Returns the text of a field of an event, or null if the event does not have it. A dotted name is a path through objects or a name with
 * dots, and any case of a name matches. Objects and lists are their JSON text.
 */
export function readEventField(event: Record<string, unknown>, name: string): string | null {
  return toText(readPath(event, name.split('.'))) ?? toText(readKey(event, name));
}

function readPath(value: unknown, path: readonly string[]): unknown {
  return path.reduce((inner, key) => readKey(inner, key), value);
}

function readKey(value: unknown, name: string): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined;
  const fields = value as Record<string, unknown>;
  if (Object.hasOwn(fields, name)) return fields[name];
  const lower = name.toLowerCase();
  const key = Object.keys(fields).find((one) => one.toLowerCase() === lower);
  return key === undefined ? undefined : fields[key];
}

function toText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
