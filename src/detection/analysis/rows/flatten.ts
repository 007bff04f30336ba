import type { Row } from '../../siem/connector.ts';
import { objectIn } from './fields.ts';

export type Leaf = [field: string, value: unknown];

const depthMax = 8;
const leavesMax = 400;

/**
 * The leaves of a row under dotted names, shallow ones first; lists are leaves. Columns that begin with `_` are the log
 * store's own and are left out, except `_event` where it is all there is.
 */
export function flattenRow(row: Row): Leaf[] {
  const own = Object.keys(row).filter((column) => !column.startsWith('_'));
  if (own.length > 0 || !Object.hasOwn(row, '_event')) return flatten(own.map((column) => [column, row[column]]));
  return flatten(Object.entries(objectIn(row['_event']) ?? {}));
}

function flatten(columns: Leaf[]): Leaf[] {
  const leaves: Leaf[] = [];
  let level = columns;
  for (let depth = 0; level.length > 0 && leaves.length < leavesMax; depth++) {
    const next: Leaf[] = [];
    for (const [field, value] of level) {
      const inner = depth < depthMax ? objectIn(value) : undefined;
      if (!inner) leaves.push([field, value]);
      else for (const key of Object.keys(inner).slice(0, leavesMax)) next.push([`${field}.${key}`, inner[key]]);
    }
    level = next;
  }
  return leaves.slice(0, leavesMax);
}
