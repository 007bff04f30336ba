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
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBUnionValue,
  DuckDBVariantValue,
} from '@duckdb/node-api';
import type { DuckDBType, DuckDBValue } from '@duckdb/node-api';
import { parseExactJson } from '../../../platform/lib/json/exact-json.ts';

type Json = unknown;

/**
 * A value of a result as JSON: integers beyond 2^53 as text, times ISO 8601 UTC with milliseconds, JSON as what it holds, lists and
 * structs as arrays and objects, everything else in the engine's own text.
 */
export function toJson(value: DuckDBValue, type?: DuckDBType): Json {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') return type?.alias === 'JSON' ? parseExact(value) : value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'bigint') return integer(value);
  return time(value) ?? nested(value, type) ?? value.toString();
}

function integer(value: bigint): number | string {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : String(value);
}

function time(value: object): string | undefined {
  if (value instanceof DuckDBTimestampValue || value instanceof DuckDBTimestampTZValue)
    return iso(value.micros, 1000n, value);
  if (value instanceof DuckDBTimestampMillisecondsValue) return iso(value.millis, 1n, value);
  if (value instanceof DuckDBTimestampNanosecondsValue) return iso(value.nanos, 1_000_000n, value);
  if (value instanceof DuckDBTimestampSecondsValue) return iso(value.seconds * 1000n, 1n, value);
  if (value instanceof DuckDBDateValue) return value.toString();
  return undefined;
}

function iso(units: bigint, perMs: bigint, value: object): string {
  const ms = Number(units >= 0n ? units / perMs : (units - perMs + 1n) / perMs);
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : String(value);
}

function nested(value: object, type: DuckDBType | undefined): Json {
  if (value instanceof DuckDBListValue || value instanceof DuckDBArrayValue) {
    const inner = type instanceof DuckDBListType || type instanceof DuckDBArrayType ? type.valueType : undefined;
    return value.items.map((item) => toJson(item, inner));
  }
  if (value instanceof DuckDBStructValue) {
    const inner = type instanceof DuckDBStructType ? type : undefined;
    return fields(Object.entries(value.entries), (index) => inner?.entryTypes[index]);
  }
  if (value instanceof DuckDBMapValue) {
    const inner = type instanceof DuckDBMapType ? type.valueType : undefined;
    return fields(
      value.entries.map(({ key, value: held }) => [String(toJson(key)), held]),
      () => inner,
    );
  }
  if (value instanceof DuckDBUnionValue || value instanceof DuckDBVariantValue) return toJson(value.value) ?? null;
  if (value instanceof DuckDBDecimalValue) return decimal(value);
  return undefined;
}

function fields(entries: [string, DuckDBValue][], typeAt: (index: number) => DuckDBType | undefined): Json {
  // Built from entries, so that a key `__proto__` of an event stays a plain key.
  return Object.fromEntries(entries.map(([key, held], index) => [key, toJson(held, typeAt(index))]));
}

function decimal(value: DuckDBDecimalValue): number | string {
  const number = value.toDouble();
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER && value.width <= 18 ? number : value.toString();
}

/** JSON text as values, with whole numbers as `toJson` has them; what is no JSON stays text. */
export function parseExact(text: string): Json {
  try {
    return parseExactJson(text);
  } catch {
    return text;
  }
}
