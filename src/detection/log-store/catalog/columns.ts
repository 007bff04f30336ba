import { systemColumns, type CatalogField } from './catalog.ts';
import { toEngineType } from './column-types.ts';
import { countMisfits } from './decide-type.ts';
import { toJsonType } from './describe-drift.ts';
import type { ColumnStats } from './merge-catalog.ts';

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
