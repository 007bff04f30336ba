/** The scalar types of JSON values. `NULL` means that every value so far was null. */
const scalars = ['NULL', 'BOOLEAN', 'BIGINT', 'DOUBLE', 'TIMESTAMP', 'VARCHAR'] as const;
type Scalar = (typeof scalars)[number];
export type ColumnType = Scalar | `${Scalar}[]` | 'JSON';

const isScalar = (type: ColumnType): type is Scalar => (scalars as readonly string[]).includes(type);
const elementOf = (list: ColumnType): Scalar => list.slice(0, -2) as Scalar;

/** Returns the type of a list whose elements have both types: DOUBLE for numbers, VARCHAR for any other conflict. */
function widenElement(a: Scalar, b: Scalar): Scalar {
  if (a === b || b === 'NULL') return a;
  if (a === 'NULL') return b;
  return [a, b].every((type) => type === 'BIGINT' || type === 'DOUBLE') ? 'DOUBLE' : 'VARCHAR';
}

// A time without a zone is ambiguous, and one with more than six fractional digits would lose precision: both stay text.
const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?Z$/;

/** Returns the type of one JSON value. Integers that may not fit into 64 bits are VARCHAR, so that no digit is lost. */
export function inferType(value: unknown): ColumnType {
  if (value === null || value === undefined) return 'NULL';
  if (typeof value === 'boolean') return 'BOOLEAN';
  if (typeof value === 'number') return typeOfNumber(value);
  if (typeof value === 'string')
    return instant.test(value) && !Number.isNaN(Date.parse(value)) ? 'TIMESTAMP' : 'VARCHAR';
  if (!Array.isArray(value)) return 'JSON';
  let element: Scalar = 'NULL';
  for (const item of value) {
    const type = inferType(item);
    if (!isScalar(type)) return 'JSON';
    element = widenElement(element, type);
  }
  return `${element}[]`;
}

function typeOfNumber(value: number): ColumnType {
  if (!Number.isFinite(value)) return 'VARCHAR';
  if (!Number.isInteger(value)) return 'DOUBLE';
  return Math.abs(value) < 2 ** 63 ? 'BIGINT' : 'VARCHAR';
}

/** Returns the engine's name of a type. Columns with nothing but nulls are VARCHAR. */
export function toEngineType(type: ColumnType): string {
  return type.replace('NULL', 'VARCHAR');
}

/** Returns whether a column of type `column` represents values of type `value` without loss. Any value fits VARCHAR as text. */
export function fitsType(column: ColumnType, value: ColumnType): boolean {
  if (column === value || column === 'VARCHAR' || value === 'NULL') return true;
  if (column === 'DOUBLE') return value === 'BIGINT';
  if (isScalar(column) || isScalar(value)) return false;
  if (column === 'JSON') return true;
  return value !== 'JSON' && fitsType(elementOf(column), elementOf(value));
}
