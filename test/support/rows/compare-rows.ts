import pg from 'pg';

type Result = { fields: Pick<pg.FieldDef, 'name' | 'dataTypeID'>[]; rows: object[] };

const { builtins } = pg.types;
const kinds: Record<number, string> = {
  ...Object.fromEntries(
    [builtins.INT2, builtins.INT4, builtins.INT8, builtins.FLOAT4, builtins.FLOAT8, builtins.NUMERIC].map((oid) => [
      oid,
      'number',
    ]),
  ),
  ...Object.fromEntries(
    [builtins.TEXT, builtins.VARCHAR, builtins.UUID, builtins.DATE, builtins.INET].map((oid) => [oid, 'string']),
  ),
  [builtins.BOOL]: 'boolean',
  [builtins.TIMESTAMP]: 'Date',
  [builtins.TIMESTAMPTZ]: 'Date',
  [builtins.BYTEA]: 'bytes',
};

/** Returns what differs between the columns of a result and the declared kinds of each column. */
export function compareRows(declared: Record<string, string[]>, result: Result): string[] {
  const names = new Set(result.fields.map(({ name }) => name));
  const missing = Object.keys(declared).filter((name) => !names.has(name) && !declared[name]!.includes('undefined'));
  return [
    ...missing.map((name) => `the column ${name} is missing`),
    ...result.fields.flatMap((field) => compareField(declared[field.name], field, result)),
  ];
}

function compareField(
  declared: string[] | undefined,
  { name, dataTypeID }: Result['fields'][number],
  { rows }: Result,
): string[] {
  if (!declared) return [`the column ${name} is not declared`];
  if (declared.includes('any')) return [];
  const values = rows.map((row) => (row as Record<string, unknown>)[name]);
  const kind = kinds[dataTypeID] ?? kindOf(values.find((value) => value !== null));
  if (kind && !declared.includes(kind)) return [`${name} is ${kind}, declared as ${declared.join(' | ')}`];
  if (declared.includes('null')) return [];
  return values.includes(null) ? [`${name} is null, declared as ${declared.join(' | ')}`] : [];
}

function kindOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (value instanceof Date) return 'Date';
  if (value instanceof Uint8Array) return 'bytes';
  return Array.isArray(value) ? 'array' : typeof value;
}
