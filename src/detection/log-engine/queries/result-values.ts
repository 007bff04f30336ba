import {
  DuckDBArrayType,
  DuckDBArrayValue,
  DuckDBListType,
  DuckDBMapType,
  DuckDBStructType,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBListValue,
  DuckDBMapValue,
  DuckDBStructValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampType,
  DuckDBTimestampTZType,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBUnionValue,
  DuckDBVariantValue,
  type DuckDBType,
  type DuckDBValue,
} from '@duckdb/node-api';
import { parseExactJson } from '../../../platform/lib/json/json-values.ts';

/**
 * Converts a result value to JSON. Integers beyond 2^53 become text, times ISO 8601 UTC with milliseconds, JSON its content, lists and structs
 * arrays and objects. Everything else becomes the engine's own text.
 */
export function toJson(value: DuckDBValue, type?: DuckDBType): unknown {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') return type?.alias === 'JSON' ? parseJsonOrText(value) : value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'bigint') return toSafeInteger(value);
  return toIsoTime(value) ?? toNested(value, type) ?? value.toString();
}

/** Like `toJson`, but a time of the types in `isTimeType` is its microseconds since 1970 unless they are beyond 2^53. */
export function toCell(value: DuckDBValue, type?: DuckDBType): unknown {
  if (!(value instanceof DuckDBTimestampValue || value instanceof DuckDBTimestampTZValue)) return toJson(value, type);
  const micros = toSafeInteger(value.micros);
  return typeof micros === 'number' ? micros : toJson(value, type);
}

export const isTimeType = (type: DuckDBType | undefined): boolean =>
  type instanceof DuckDBTimestampType || type instanceof DuckDBTimestampTZType;

function toSafeInteger(value: bigint): number | string {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : String(value);
}

function toIsoTime(value: object): string | undefined {
  if (value instanceof DuckDBTimestampValue || value instanceof DuckDBTimestampTZValue)
    return formatIso(value.micros, 1000n, value);
  if (value instanceof DuckDBTimestampMillisecondsValue) return formatIso(value.millis, 1n, value);
  if (value instanceof DuckDBTimestampNanosecondsValue) return formatIso(value.nanos, 1_000_000n, value);
  if (value instanceof DuckDBTimestampSecondsValue) return formatIso(value.seconds * 1000n, 1n, value);
  if (value instanceof DuckDBDateValue) return value.toString();
  return undefined;
}

function formatIso(units: bigint, perMs: bigint, value: object): string {
  const ms = Number(units >= 0n ? units / perMs : (units - perMs + 1n) / perMs);
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : String(value);
}

function toNested(value: object, type: DuckDBType | undefined): unknown {
  if (value instanceof DuckDBListValue || value instanceof DuckDBArrayValue) {
    const inner = type instanceof DuckDBListType || type instanceof DuckDBArrayType ? type.valueType : undefined;
    return value.items.map((item) => toJson(item, inner));
  }
  if (value instanceof DuckDBStructValue) {
    const inner = type instanceof DuckDBStructType ? type : undefined;
    return toObject(Object.entries(value.entries), (index) => inner?.entryTypes[index]);
  }
  if (value instanceof DuckDBMapValue) {
    const inner = type instanceof DuckDBMapType ? type.valueType : undefined;
    return toObject(
      value.entries.map(({ key, value: child }) => [String(toJson(key)), child]),
      () => inner,
    );
  }
  if (value instanceof DuckDBUnionValue || value instanceof DuckDBVariantValue) return toJson(value.value) ?? null;
  if (value instanceof DuckDBDecimalValue) return toDecimal(value);
  return undefined;
}

function toObject(entries: [string, DuckDBValue][], typeAt: (index: number) => DuckDBType | undefined): unknown {
  // `fromEntries` keeps a key `__proto__` as a plain key.
  return Object.fromEntries(entries.map(([key, child], index) => [key, toJson(child, typeAt(index))]));
}

function toDecimal(value: DuckDBDecimalValue): number | string {
  const number = value.toDouble();
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER && value.width <= 18 ? number : value.toString();
}

/** Parses JSON text, with integers beyond 2^53 as text. Returns text that is not valid JSON unchanged. */
function parseJsonOrText(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return text;
  }
}
