import type { RemoteSiemType } from '../../detection/siem/registry.ts';
import type { SweepKind, SweptDataset } from './sighting-fields.ts';

/** The values to search for, in lower case, by kind. */
export type SweepValues = Record<SweepKind, string[]>;

type SweepLanguage = {
  /** Returns the condition for one field. `field` is a path of letters, digits, `_`, and dots. */
  fieldIn: (field: string, values: string[]) => string;
  or: string;
  query: (dataset: string, condition: string) => string;
};

// Values need no escaping: `isPlainValue` rejects quotes and wildcards.
const singleQuoted = (values: string[]): string => values.map((value) => `'${value}'`).join(', ');
const doubleQuoted = (values: string[]): string => values.map((value) => `"${value}"`).join(', ');
const quoteName = (name: string): string => `"${name}"`;
const quotePath = (path: string): string => path.split('.').map(quoteName).join('.');

const languages: Record<RemoteSiemType | 'local', SweepLanguage> = {
  // Reading from `_event` returns null for a field that no event in the window has. A missing column would be an error.
  local: {
    fieldIn: (field, values) => `lower(_event->>'$.${field}') IN (${singleQuoted(values)})`,
    or: ' OR ',
    query: (dataset, condition) => `SELECT _id, _time, _event FROM ${quoteName(dataset)} WHERE ${condition}`,
  },
  // As text, an `inet` address ends with its mask.
  postgres: {
    fieldIn: (field, values) =>
      `regexp_replace(lower(${quoteName(field)}::text), '/(32|128)$', '') IN (${singleQuoted(values)})`,
    or: ' OR ',
    query: (dataset, condition) => `SELECT * FROM ${quotePath(dataset)} WHERE $window AND (${condition})`,
  },
  clickhouse: {
    fieldIn: (field, values) => `lower(toString(\`${field}\`)) IN (${singleQuoted(values)})`,
    or: ' OR ',
    query: (dataset, condition) => `SELECT * FROM \`${dataset}\` WHERE $window AND (${condition})`,
  },
  elasticsearch: {
    fieldIn: (field, values) => `TO_LOWER(TO_STRING(${field})) IN (${doubleQuoted(values)})`,
    or: ' OR ',
    query: (dataset, condition) => `FROM ${dataset} | WHERE ${condition}`,
  },
  opensearch: {
    fieldIn: (field, values) => `lower(cast(\`${field}\` as string)) in (${doubleQuoted(values)})`,
    or: ' or ',
    query: (dataset, condition) => `source=${dataset} | where $window and (${condition})`,
  },
  // Splunk compares values case-insensitively.
  splunk: {
    fieldIn: (field, values) => `${field} IN (${doubleQuoted(values)})`,
    or: ' OR ',
    query: (dataset, condition) => `search index=${dataset} (${condition})`,
  },
  sentinel: {
    fieldIn: (field, values) => `tostring(${field}) in~ (${doubleQuoted(values)})`,
    or: ' or ',
    query: (dataset, condition) => `${dataset} | where $window | where ${condition}`,
  },
};

/** Reports whether a value can be inserted into a query of any language without escaping. Other values are not searched for. */
export const isPlainValue = (value: string): boolean => /^[\w.:/?#@!&()+,;=%~-]{1,300}$/.test(value);

/** Builds a query for the rows of a dataset that contain one of the values. Returns undefined if no field fits any of the values. */
export function buildSweepQuery(
  kind: RemoteSiemType | 'local',
  { dataset, fields }: SweptDataset,
  values: SweepValues,
): string | undefined {
  const { fieldIn, or, query } = languages[kind];
  const conditions = fields.flatMap((field) =>
    values[field.kind].length === 0 ? [] : [fieldIn(field.name, values[field.kind])],
  );
  return conditions.length === 0 ? undefined : query(dataset, conditions.join(or));
}
