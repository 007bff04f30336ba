import { toEngineType, type ColumnType } from './column-types.ts';
import type { ColumnDrift } from './merge-catalog.ts';

/** Returns the JSON type of a value: `string`, `number`, `boolean`, `array` or `object`. */
export function toJsonType(type: ColumnType): string {
  if (type.endsWith('[]')) return 'array';
  if (type === 'JSON') return 'object';
  if (type === 'BOOLEAN') return 'boolean';
  return type === 'BIGINT' || type === 'DOUBLE' ? 'number' : 'string';
}

/** Returns the part of a `dataset.drifted` event that describes one column. */
export function describeDrift(
  dataset: string,
  { column, type, valueType, count, previousType }: ColumnDrift,
): { column: string; type: string; previousType: string | null; valueType: string; count: number; message: string } {
  const [name, now] = [`${dataset}.${column}`, toEngineType(type)];
  const misfits = `${count} value${count === 1 ? '' : 's'} of ${name} in one batch, of type ${toJsonType(valueType)}, did not fit ${now}`;
  const message =
    previousType === undefined
      ? `${misfits}. They are null in the column. Read them as _text.${column}, or declare the type of the column.`
      : `The type of ${name} changed from ${toEngineType(previousType)} to ${now}, because most of its values are of another type now. Declare the type of the column to keep it.`;
  return {
    column,
    type: now,
    previousType: previousType === undefined ? null : toEngineType(previousType),
    valueType: toJsonType(valueType),
    count,
    message,
  };
}
