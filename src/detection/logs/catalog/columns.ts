import { ownColumns, type Field } from './catalog.ts';
import { engineType } from './column-types.ts';

const ownTypes: Record<(typeof ownColumns)[number], string> = {
  _id: 'VARCHAR',
  _time: 'TIMESTAMP',
  _ingested: 'TIMESTAMP',
  _event: 'JSON',
};

/** The columns that a query of a dataset has: first those of every dataset, then the events' own, those inside objects by dotted names. */
export function columnsOf(fields: Field[]): { name: string; type: string }[] {
  const own = ownColumns.map((name) => ({ name, type: ownTypes[name] }));
  return [...own, ...fields.flatMap((field) => withNested(field, field.name))];
}

function withNested(field: Field, path: string): { name: string; type: string }[] {
  return [
    { name: path, type: engineType(field.type) },
    ...field.nested.flatMap((inner) => withNested(inner, `${path}.${inner.name}`)),
  ];
}
