import { textColumn } from '../../log-store/catalog/catalog.ts';
import { isNull, nodesOf, operandsOf, walkTree, type TreeNode } from '../parse-tree.ts';
import type { EventFilter } from './event-filter.ts';
import type { OutputColumn } from './output-columns.ts';

/** The tables and columns that a statement reads, which passed the allow-lists. Table names and aliases are in lower case. */
export type Inspection = {
  tables: string[];
  /** The value lists that it reads as `lists.<name>`. */
  lists: string[];
  /** The names of each column reference, without repetitions. */
  columns: string[][];
  /** The names in `columns` that may be missing, dotted, in lower case and without the table. */
  optional: string[];
  aliases: string[];
  /** The aliases that stand for a whole row. */
  rowNames: string[];
  /** The statement may read columns that it does not name (`*`, NATURAL, a whole row). */
  allColumns: boolean;
  /** Only JSON functions read `_event`, so it does not have to be cast to JSON first. */
  eventAsText: boolean;
  aggregate: boolean;
  parameters: string[];
  /** The paths that JSON functions read. */
  jsonPaths: string[];
  /** By table, which events can change the result. */
  filters: Record<string, EventFilter>;
  /** The columns that the statement returns. */
  outputs: OutputColumn[];
  /** Why the statement is no filter over single events, or null if it is one. See `findCrossEventPart`. */
  crossEventPart: string | null;
};

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

/**
 * Returns the dotted names that a query reads only as alternatives, in lower case and without the table: as an operand of `coalesce` that has
 * another column or NULL beside it. Elsewhere, a name that the query defines stands for that. `aliases` are the names that it defines.
 */
export function listOptionalColumns(tree: unknown, aliases: readonly string[]): string[] {
  const defined = new Set(aliases);
  const optional = new Set<string>();
  const required = new Set<string>();
  const nameOf = (names: readonly string[]): string =>
    (names.length > 1 && defined.has(names[0]!.toLowerCase()) ? names.slice(1) : names).join('.').toLowerCase();
  const visit = (value: unknown): void =>
    walkTree(value, (node) => {
      if (node['class'] === 'COLUMN_REF') {
        const names = node['column_names'] as string[];
        if (names.length > 1 || !defined.has(names[0]!.toLowerCase())) required.add(nameOf(names));
      }
      if (node['type'] !== 'OPERATOR_COALESCE') return true;
      const operands = operandsOf(node);
      const columns = operands.map(findColumn);
      const isChoice = operands.filter((operand, index) => columns[index] || isNull(operand)).length > 1;
      for (const [index, operand] of operands.entries()) {
        if (isChoice && columns[index]) optional.add(nameOf(columns[index]));
        else visit(operand);
      }
      return false;
    });
  visit(tree);
  return [...optional].filter((name) => !required.has(name));
}

/** Returns the names of the column that an expression converts, if it does nothing else. */
function findColumn(node: TreeNode): string[] | undefined {
  if (node['class'] === 'COLUMN_REF') return node['column_names'] as string[];
  const children = node['class'] === 'CAST' ? nodesOf([node['child']]) : operandsOf(node);
  const isConversion = node['class'] === 'CAST' || node['type'] === 'OPERATOR_TRY' || node['class'] === 'FUNCTION';
  return isConversion && children.length === 1 ? findColumn(children[0]!) : undefined;
}
