import { systemColumns, type CatalogField } from './catalog.ts';
import { toEngineType } from './column-types.ts';

const ownTypes: Record<(typeof systemColumns)[number], string> = {
  _id: 'VARCHAR',
  _time: 'TIMESTAMP',
  _ingested: 'TIMESTAMP',
  _event: 'JSON',
};

/** The columns that a query of a dataset has: first those of every dataset, then the events' own, those inside objects by dotted names. */
export function listCatalogColumns(fields: CatalogField[]): { name: string; type: string }[] {
  const own = systemColumns.map((name) => ({ name, type: ownTypes[name] }));
  return [...own, ...fields.flatMap((field) => withNested(field, field.name))];
}

function withNested(field: CatalogField, path: string): { name: string; type: string }[] {
  return [
    { name: path, type: toEngineType(field.type) },
    ...field.nested.flatMap((inner) => withNested(inner, `${path}.${inner.name}`)),
  ];
}
