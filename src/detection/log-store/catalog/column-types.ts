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

/** Number of values by type. Nulls are not counted. */
export type TypeCounts = Partial<Record<ColumnType, number>>;

/** A column adopts a type that at least this share of its values fits. With many values, few exceptions are enough to keep text. */
const [adoptShare, adoptShareOfMany, manyValues] = [0.9, 0.99, 1000];
/** A column keeps its type while more than this share of its values fits. */
const keepShare = 0.5;
/** Integers become decimals above the first share of decimals among the numbers, and decimals integers below the second. */
const [decimalsAbove, decimalsBelow] = [0.01, 0.001];

/** The types that a column adopts, from narrowest to widest. */
const candidates: ColumnType[] = [
  'BOOLEAN',
  'BIGINT',
  'DOUBLE',
  'TIMESTAMP',
  'NULL[]',
  'BOOLEAN[]',
  'BIGINT[]',
  'DOUBLE[]',
  'TIMESTAMP[]',
  'VARCHAR[]',
  'JSON',
];

const countIf = (counts: TypeCounts, accepts: (type: ColumnType) => boolean): number =>
  (Object.entries(counts) as [ColumnType, number][]).reduce((sum, [type, n]) => sum + (accepts(type) ? n : 0), 0);

/** Returns the number of values that a column of this type cannot represent. They are null in the column. */
export const countMisfits = (counts: TypeCounts, type: ColumnType): number =>
  type === 'NULL' ? 0 : countIf(counts, (value) => !fitsType(type, value));

/**
 * Returns the type of a column with these values: the type that its data has overwhelmingly had. A column keeps its current type while most of
 * its values fit, so that a minority of other values cannot change it. Otherwise it adopts the narrowest type that nearly all values fit, or
 * VARCHAR if they are mixed. A column of text adopts another type in the same way, so that odd first values do not last.
 */
export function decideType(counts: TypeCounts, current: ColumnType): ColumnType {
  const total = countIf(counts, (type) => type !== 'NULL');
  if (total === 0) return current;
  const type = keepsType(counts, current, total) ? current : adoptType(counts, total);
  return adjustNumbers(counts, type);
}

function keepsType(counts: TypeCounts, current: ColumnType, total: number): boolean {
  if (current === 'NULL' || current === 'NULL[]' || current === 'VARCHAR') return false;
  // Integers and decimals are one family.
  const family = current.replace('BIGINT', 'DOUBLE') as ColumnType;
  return countIf(counts, (value) => fitsType(family, value)) > total * keepShare;
}

function adoptType(counts: TypeCounts, total: number): ColumnType {
  const share = total < manyValues ? adoptShare : adoptShareOfMany;
  const fits = (type: ColumnType): boolean => countIf(counts, (value) => fitsType(type, value)) >= total * share;
  return candidates.find(fits) ?? 'VARCHAR';
}

function adjustNumbers(counts: TypeCounts, type: ColumnType): ColumnType {
  const element = type.replace('[]', '');
  if (element !== 'BIGINT' && element !== 'DOUBLE') return type;
  const suffix = type.slice(element.length);
  const [integers, decimals] = [`BIGINT${suffix}`, `DOUBLE${suffix}`] as [ColumnType, ColumnType];
  const share = (counts[decimals] ?? 0) / ((counts[integers] ?? 0) + (counts[decimals] ?? 0) || 1);
  if (share > decimalsAbove) return decimals;
  return share < decimalsBelow ? integers : type;
}
