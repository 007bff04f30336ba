import type { RemoteKind } from '../../detection/siem/registry.ts';
import type { Sought, SweptDataset } from './sighting-fields.ts';

/** Values in lower case by what they are. */
export type Wanted = Record<Sought, string[]>;

type Language = {
  /** Fields come as their paths: letters, digits, `_` and dots. */
  isAmong: (field: string, values: string[]) => string;
  or: string;
  query: (dataset: string, condition: string) => string;
};

// Values have nothing in them that would end or change a text (`isPlain`).
const inSingle = (values: string[]): string => values.map((value) => `'${value}'`).join(', ');
const inDouble = (values: string[]): string => values.map((value) => `"${value}"`).join(', ');
const inQuotes = (name: string): string => `"${name}"`;
const inParts = (name: string): string => name.split('.').map(inQuotes).join('.');

const languages: Record<RemoteKind | 'local', Language> = {
  // Read from the event: a column that no event of the window has is null and no error.
  local: {
    isAmong: (field, values) => `lower(_event->>'$.${field}') IN (${inSingle(values)})`,
    or: ' OR ',
    query: (dataset, condition) => `SELECT _id, _time, _event FROM ${inQuotes(dataset)} WHERE ${condition}`,
  },
  // An address of type inet ends in its mask.
  postgres: {
    isAmong: (field, values) =>
      `regexp_replace(lower(${inQuotes(field)}::text), '/(32|128)$', '') IN (${inSingle(values)})`,
    or: ' OR ',
    query: (dataset, condition) => `SELECT * FROM ${inParts(dataset)} WHERE $window AND (${condition})`,
  },
  clickhouse: {
    isAmong: (field, values) => `lower(toString(\`${field}\`)) IN (${inSingle(values)})`,
    or: ' OR ',
    query: (dataset, condition) => `SELECT * FROM \`${dataset}\` WHERE $window AND (${condition})`,
  },
  elasticsearch: {
    isAmong: (field, values) => `TO_LOWER(TO_STRING(${field})) IN (${inDouble(values)})`,
    or: ' OR ',
    query: (dataset, condition) => `FROM ${dataset} | WHERE ${condition}`,
  },
  opensearch: {
    isAmong: (field, values) => `lower(cast(\`${field}\` as string)) in (${inDouble(values)})`,
    or: ' or ',
    query: (dataset, condition) => `source=${dataset} | where $window and (${condition})`,
  },
  // Values are compared without case there.
  splunk: {
    isAmong: (field, values) => `${field} IN (${inDouble(values)})`,
    or: ' OR ',
    query: (dataset, condition) => `search index=${dataset} (${condition})`,
  },
  sentinel: {
    isAmong: (field, values) => `tostring(${field}) in~ (${inDouble(values)})`,
    or: ' or ',
    query: (dataset, condition) => `${dataset} | where $window | where ${condition}`,
  },
};

/** Whether a value can stand in a query of any language as it is; the few others are not looked for. */
export const isPlain = (value: string): boolean => /^[\w.:/?#@!&()+,;=%~-]{1,300}$/.test(value);

/** One query for the rows of a dataset in which a field holds one of the values; undefined where it has no field for any of them. */
export function sweepQuery(
  kind: RemoteKind | 'local',
  { dataset, fields }: SweptDataset,
  wanted: Wanted,
): string | undefined {
  const { isAmong, or, query } = languages[kind];
  const conditions = fields.flatMap((field) =>
    wanted[field.kind].length === 0 ? [] : [isAmong(field.name, wanted[field.kind])],
  );
  return conditions.length === 0 ? undefined : query(dataset, conditions.join(or));
}
