import type { DuckDBConnection } from '@duckdb/node-api';
import { inspectTree } from '../inspection/inspect-tree.ts';
import { isNode, type TreeNode } from '../parse-tree/tree.ts';
import { listUnnamedItems } from '../rewriting/lenient-tree.ts';
import { duck, joinSql, type SqlText } from '../sql/sql-text.ts';
import { deserializeTree, serializeTree } from '../parse-tree/serialize-tree.ts';

type Tree = { statements: { node: TreeNode }[] };

/**
 * Returns a query's text with a changed parse tree and the same column names. `expressions` are parsed for the change, which gets the tree and
 * their nodes. The result passes the same allow-lists again.
 */
export async function changeQuery(
  connection: DuckDBConnection,
  tree: string,
  { expressions, change }: { expressions: readonly SqlText[]; change: (tree: unknown, nodes: TreeNode[]) => unknown },
): Promise<string> {
  const parsed = parseTree(tree);
  const template = parseTree(await serializeTree(connection, duck`SELECT ${joinSql([duck`1`, ...expressions])}`))
    .statements[0]!.node;
  const [, ...nodes] = template['select_list'] as TreeNode[];
  for (const item of listUnnamedItems(parsed)) {
    const statement = { statements: [{ node: { ...template, select_list: [item] } }] };
    item['alias'] = (await toSql(connection, statement)).slice('SELECT '.length);
  }
  const sql = await toSql(connection, change(parsed, nodes) as Tree);
  inspectTree(await serializeTree(connection, sql));
  return sql;
}

const toSql = (connection: DuckDBConnection, tree: Tree): Promise<string> =>
  deserializeTree(
    connection,
    JSON.stringify({ error: false, ...(spellCrossJoins(tree, false) as Tree) }).replace(/"\\u0000([^"]+)"/g, '$1'),
  );

/**
 * Parses a tree. Numbers that JSON would write differently, such as 1000000.0 and integers that a double cannot represent, become text that
 * starts with U+0000, which no query contains. Matches only after a key: inside a string, the quote before the colon would be escaped.
 */
const parseTree = (text: string): Tree =>
  JSON.parse(
    text.replace(/(?<=[a-z_]":)-?\d[\d.eE+-]*(?=[,}])/g, (number) =>
      String(Number(number)) === number ? number : `"\\u0000${number}"`,
    ),
  ) as Tree;

/** The engine writes a cross join as a comma, which is not valid inside another join. There, it becomes a join on a true condition. */
function spellCrossJoins(value: unknown, isInJoin: boolean): unknown {
  if (Array.isArray(value)) return value.map((entry) => spellCrossJoins(entry, false));
  if (!isNode(value)) return value;
  const isJoin = value['type'] === 'JOIN';
  const node = Object.fromEntries(
    Object.entries(value).map(([key, child]) => [
      key,
      spellCrossJoins(child, isJoin && (key === 'left' || key === 'right')),
    ]),
  );
  return isInJoin && isJoin && node['ref_type'] === 'CROSS'
    ? { ...node, ref_type: 'REGULAR', condition: alwaysTrue }
    : node;
}

const alwaysTrue = {
  class: 'CONSTANT',
  type: 'VALUE_CONSTANT',
  alias: '',
  query_location: 0,
  value: { type: { id: 'BOOLEAN', type_info: null }, is_null: false, value: true },
};
