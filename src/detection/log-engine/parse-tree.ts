import { LRUCache } from 'lru-cache';
import type { DuckDBConnection } from '@duckdb/node-api';

/** A node of the parse tree that DuckDB's `json_serialize_sql` returns. */
export type TreeNode = Record<string, unknown>;

export const isNode = (value: unknown): value is TreeNode =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** Returns the nodes of a list in the tree, which is absent if it is empty. */
export const nodesOf = (value: unknown): TreeNode[] => (Array.isArray(value) ? value.filter(isNode) : []);

/** Returns the operands of a function, an operator or a conjunction. */
export const operandsOf = (node: TreeNode): TreeNode[] =>
  node['class'] === 'LAMBDA' ? nodesOf([node['lhs'], node['expr']]) : nodesOf(node['children']);

const lambdaFunctions = /^(?:(?:list|array)_)?(?:transform|apply|filter|reduce)$/;

/**
 * Returns whether a child of a node is a lambda. The parser does not distinguish it from the operator `->`, but only `COLUMNS` and functions of
 * lists have one, the latter not as their first operand.
 */
export const isLambda = (child: TreeNode, parent: TreeNode): boolean =>
  child['class'] === 'LAMBDA' &&
  (parent['class'] === 'STAR' ||
    (lambdaFunctions.test(functionName(parent) ?? '') && operandsOf(parent).indexOf(child) > 0));

/** Returns the name of a function. The parser does not distinguish the operator `->` from a lambda. */
export function functionName(node: TreeNode): string | undefined {
  if (node['class'] === 'LAMBDA') return '->';
  return node['class'] === 'FUNCTION' ? String(node['function_name']).toLowerCase() : undefined;
}

/** Returns the text of a constant of type VARCHAR, or of several that are joined. */
export function constantText(node: TreeNode | undefined): string | undefined {
  if (node && functionName(node) === 'concat_ws') {
    const texts = operandsOf(node).map((one) => constantText(one));
    const [separator, ...parts] = texts;
    return texts.includes(undefined) ? undefined : parts.join(separator);
  }
  if (node?.['class'] !== 'CONSTANT') return undefined;
  const { value } = node['value'] as TreeNode;
  return typeof value === 'string' ? value : undefined;
}

export const isNull = (node: TreeNode): boolean =>
  node['class'] === 'CONSTANT' && (node['value'] as TreeNode)['is_null'] === true;

/** Calls `visit` for every node below a value, except below nodes for which it returns false. */
export function walkTree(value: unknown, visit: (node: TreeNode) => boolean): void {
  if (Array.isArray(value)) for (const entry of value) walkTree(entry, visit);
  else if (isNode(value) && visit(value)) for (const child of Object.values(value)) walkTree(child, visit);
}

/** Trees by statement, of this process. A statement is inspected before it runs, and often runs again. */
const trees = new LRUCache<string, string>({
  maxSize: 4 * 1024 * 1024,
  sizeCalculation: (tree, sql) => tree.length + sql.length,
});

/** Returns the parse tree of a statement as JSON text, the input of `inspectTree`. */
export async function serializeTree(connection: DuckDBConnection, sql: string): Promise<string> {
  const known = trees.get(sql);
  if (known !== undefined) return known;
  const result = await connection.runAndReadAll('SELECT json_serialize_sql($1::VARCHAR)', [sql]);
  const tree = String(result.getRows()[0]?.[0]);
  trees.set(sql, tree);
  return tree;
}

/** Like `serializeTree`, for many statements at once. */
export async function serializeTrees(connection: DuckDBConnection, sqls: readonly string[]): Promise<string[]> {
  const list = JSON.stringify(sqls);
  const select = `SELECT json_serialize_sql(unnest(from_json($1::VARCHAR, '["VARCHAR"]')))`;
  const result = await connection.runAndReadAll(select, [list]);
  return result.getRows().map(([tree]) => String(tree));
}

/** Returns the text of a statement from its parse tree. */
export async function deserializeTree(connection: DuckDBConnection, tree: string): Promise<string> {
  const result = await connection.runAndReadAll('SELECT json_deserialize_sql($1::JSON)', [tree]);
  return String(result.getRows()[0]?.[0]);
}
