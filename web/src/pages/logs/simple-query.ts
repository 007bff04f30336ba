import { searchRowsMax, type LogField } from '../../api/logs.ts';

const tail = new RegExp(String.raw`\s+ORDER BY _time DESC LIMIT ${searchRowsMax}\s*$`, 'i');
const simple = /^\s*SELECT \* FROM ("[^"]+"|\w+)(?:\s+WHERE\s+([\s\S]+))?$/i;

/** Quotes a name if SQL needs it. */
const quoteName = (name: string): string => (/^[a-z_]\w*$/i.test(name) ? name : `"${name.replaceAll('"', '""')}"`);

/** The newest events of a dataset that meet a condition. */
export function buildQuery(dataset: string, where = ''): string {
  const condition = where.trim() === '' ? '' : `\nWHERE ${where.trim()}`;
  return `SELECT * FROM ${quoteName(dataset)}${condition}\nORDER BY _time DESC LIMIT ${searchRowsMax}`;
}

/** Returns the condition of a query that selects whole events, or null for any other query. */
export function readCondition(query: string): string | null {
  const match = simple.exec(query.replace(tail, ''));
  return match ? (match[2]?.trim() ?? '') : null;
}

/** Adds a condition: to the one of a simple query, or around any other query. */
export function addCondition(query: string, dataset: string, condition: string): string {
  const where = readCondition(query);
  if (where === null) return `SELECT * FROM (\n${query.replace(/;\s*$/, '')}\n)\nWHERE ${condition}`;
  return buildQuery(dataset, where === '' ? condition : `${where}\n  AND ${condition}`);
}

/** A detection reads every row of its window, in any order. */
export const toDetectionQuery = (query: string): string => query.replace(tail, '').trim();

/** Values of fields are listed up to this length. */
const valueMax = 200;

/** Returns the condition that a field has a value. `value` is text, as the API lists it. */
export function toCondition({ name, type }: Pick<LogField, 'name' | 'type'>, value: string): string {
  const path = name.split('.').map(quoteName).join('.');
  const text = `'${value.replaceAll("'", "''")}'`;
  if (type.endsWith('[]')) return `list_contains(${path}, ${text})`;
  if (/^(BIGINT|DOUBLE|BOOLEAN)$/.test(type)) return `${path} = ${value}`;
  return value.length >= valueMax ? `starts_with(${path}, ${text})` : `${path} = ${text}`;
}
