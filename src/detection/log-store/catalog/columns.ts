import { systemColumns, type CatalogField } from './catalog.ts';
import { toEngineType, countMisfits, type ColumnType } from './column-types.ts';
import type { ColumnStats, ColumnDrift } from './merge-catalog.ts';

const systemTypes: Record<(typeof systemColumns)[number], string> = {
  _id: 'VARCHAR',
  _time: 'TIMESTAMP',
  _ingested: 'TIMESTAMP',
  _event: 'JSON',
};

/** Values of a column that do not fit its type: their number, and the JSON type and batch time of the latest. */
type Drift = { count: number; valueType: string; at: string };

export type Column = { name: string; type: string; declared?: true; drift?: Drift };

/**
 * Returns the columns that a query can use: the system columns, then the events' keys. Keys inside objects have dotted names. `stats` adds
 * what is known of their values.
 */
export function listCatalogColumns(fields: CatalogField[], stats: ColumnStats[] = []): Column[] {
  const system = systemColumns.map((name) => ({ name, type: systemTypes[name] }));
  return [...system, ...listLevel(fields, stats, '')];
}

function listLevel(fields: CatalogField[], stats: ColumnStats[], prefix: string): Column[] {
  const byName = new Map(stats.map((entry) => [entry.name, entry]));
  return fields.flatMap((field) => {
    const entry = byName.get(field.name);
    const path = prefix + field.name;
    return [toColumn(field, entry, path), ...listLevel(field.nested, entry?.nested ?? [], `${path}.`)];
  });
}

function toColumn({ type, declared }: CatalogField, stats: ColumnStats | undefined, name: string): Column {
  const count = stats?.drift ? countMisfits(stats.counts, type) : 0;
  return {
    name,
    type: toEngineType(type),
    ...(declared ? { declared: true } : {}),
    ...(stats?.drift && count > 0
      ? { drift: { count, valueType: toJsonType(stats.drift.type), at: stats.drift.at } }
      : {}),
  };
}

/** Returns the JSON type of a value: `string`, `number`, `boolean`, `array` or `object`. */
function toJsonType(type: ColumnType): string {
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
