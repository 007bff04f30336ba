import { queryNotAllowed } from './engine-failures.ts';
import type { TreeNode } from './parse-tree.ts';

const words = (text: string): string[] => text.split(/\s+/).filter(Boolean);

/** Views that the engine defines in every database and finds without a schema. */
export const engineViews: ReadonlySet<string> = new Set(
  words(`duckdb_columns duckdb_constraints duckdb_databases duckdb_indexes duckdb_logs duckdb_schemas duckdb_tables duckdb_types duckdb_views
    pg_am pg_attrdef pg_attribute pg_class pg_collation pg_constraint pg_database pg_depend pg_description pg_enum pg_index pg_indexes
    pg_namespace pg_prepared_statements pg_proc pg_sequence pg_sequences pg_settings pg_tables pg_tablespace pg_type pg_views
    pragma_database_list sqlite_master sqlite_schema sqlite_temp_master sqlite_temp_schema`),
);

/** Returns a name as the engine compares names: it ignores the case of ASCII letters only. */
export function foldName(name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/**
 * Throws unless a name is one that a CTE may have. Every table in a query passes this rule, whatever it refers to, so that no mistake about
 * the scope of a CTE can make the engine open a file (a file name contains a dot or a slash) or read one of its own views.
 */
export function checkCteName(name: string): void {
  if (!/^[\p{L}\p{N}_$ -]{1,200}$/u.test(name))
    throw queryNotAllowed(
      `"${name.slice(0, 100)}" is not a valid table name. A query reads datasets by name. The name of a CTE consists of letters, digits, spaces and the characters _ $ -.`,
    );
  if (engineViews.has(foldName(name)))
    throw queryNotAllowed(`"${name}" is a view of the query engine. Give the CTE another name.`);
}

/** Returns the dataset name that a table name stands for, which ends in `_history` for the events before the window. Throws if it is not valid. */
export function readDatasetName(name: string): string {
  const folded = foldName(name);
  if (/^[a-z][a-z0-9_]*$/.test(folded)) return folded;
  throw queryNotAllowed(`"${name.slice(0, 100)}" is not a valid dataset name. A query reads datasets by name.`);
}

/** Returns whether a table of a parse tree is a value list, which a query reads as `lists.<name>`. */
export const isListTable = (node: TreeNode): boolean =>
  node['type'] === 'BASE_TABLE' && !node['catalog_name'] && foldName(String(node['schema_name'] ?? '')) === 'lists';

/** Returns the name of a value list. Throws if it is not valid. */
export function readListName(name: string): string {
  const folded = foldName(name);
  if (/^[a-z0-9][a-z0-9_.-]{0,99}$/.test(folded)) return folded;
  throw queryNotAllowed(`"${name.slice(0, 100)}" is not a valid name of a value list.`);
}
