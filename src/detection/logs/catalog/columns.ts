import { systemColumns, type CatalogField } from './catalog.ts';
import { toEngineType } from './column-types.ts';

const systemTypes: Record<(typeof systemColumns)[number], string> = {
  _id: 'VARCHAR',
  _time: 'TIMESTAMP',
  _ingested: 'TIMESTAMP',
  _event: 'JSON',
};

/** Returns the columns that a query can use: the system columns, then the events' keys. Keys inside objects have dotted names. */
export function listCatalogColumns(fields: CatalogField[]): { name: string; type: string }[] {
  const system = systemColumns.map((name) => ({ name, type: systemTypes[name] }));
  return [...system, ...fields.flatMap((field) => withNested(field, field.name))];
}

function withNested(field: CatalogField, path: string): { name: string; type: string }[] {
  return [
    { name: path, type: toEngineType(field.type) },
    ...field.nested.flatMap((inner) => withNested(inner, `${path}.${inner.name}`)),
  ];
}
