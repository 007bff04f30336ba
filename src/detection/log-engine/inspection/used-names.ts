import { textColumn } from '../../log-store/catalog/catalog.ts';
import type { Inspection } from './inspect-tree.ts';

/** Returns the names that a query mentions, in lower case, or undefined if it may read any column. */
export function listUsedNames(inspection: Inspection): ReadonlySet<string> | undefined {
  if (inspection.allColumns) return undefined;
  // A dotted name may stand for a key that contains the dots.
  const all = inspection.columns.flatMap((names) => [...names, names.join('.'), names.slice(1).join('.')]);
  // `_text.a` is read from the event.
  if (inspection.columns.some((names) => isTextPath(names, inspection))) all.push('_event');
  return new Set(all.map((name) => name.toLowerCase()));
}

/** Returns whether a column reference is `_text.a`, the text of a key. */
function isTextPath(names: string[], { aliases }: Inspection): boolean {
  const path = aliases.includes(names[0]!.toLowerCase()) ? names.slice(1) : names;
  return path.length > 1 && path[0]!.toLowerCase() === textColumn;
}

/** Returns whether a query reads the column `_text`, which no `SELECT *` includes. */
export const readsEventText = (inspection: Inspection): boolean =>
  inspection.columns.some((names) => names.at(-1)!.toLowerCase() === textColumn && !isTextPath(names, inspection));
