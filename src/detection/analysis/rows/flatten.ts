import type { QueryRow } from '../../siem/connector.ts';
import { parseObject } from './fields.ts';

export type RowField = [field: string, value: unknown];

const depthMax = 8;
const fieldsMax = 400;

/**
 * Returns the fields of a row under dotted names, shallow ones first. Lists are not flattened. Omits the log store's own columns, which
 * begin with `_`, but reads `_event` if the row has nothing else.
 */
export function flattenRow(row: QueryRow): RowField[] {
  const columns = Object.keys(row).filter((column) => !column.startsWith('_'));
  if (columns.length > 0 || !Object.hasOwn(row, '_event')) return flatten(columns.map((name) => [name, row[name]]));
  return flatten(Object.entries(parseObject(row['_event']) ?? {}));
}

function flatten(columns: RowField[]): RowField[] {
  const fields: RowField[] = [];
  let level = columns;
  for (let depth = 0; level.length > 0 && fields.length < fieldsMax; depth++) {
    const next: RowField[] = [];
    for (const [field, value] of level) {
      const inner = depth < depthMax ? parseObject(value) : undefined;
      if (!inner) fields.push([field, value]);
      else for (const key of Object.keys(inner).slice(0, fieldsMax)) next.push([`${field}.${key}`, inner[key]]);
    }
    level = next;
  }
  return fields.slice(0, fieldsMax);
}
