import type { DuckDBConnection } from '@duckdb/node-api';
import { inspectTree } from '../sql/inspect-tree.ts';
import { listUnnamedItems } from './lenient-tree.ts';
import { deserializeTree, serializeTree } from '../sql/serialize-tree.ts';

type Node = Record<string, unknown>;
type Tree = { statements: { node: Node }[] };

/** Returns a query's text with a changed parse tree and the same column names. The result passes the same allow-lists again. */
export async function changeQuery(
  connection: DuckDBConnection,
  tree: string,
  change: (tree: unknown) => unknown,
): Promise<string> {
  const parsed = parseTree(tree);
  const template = parseTree(await serializeTree(connection, 'SELECT 1')).statements[0]!.node;
  for (const item of listUnnamedItems(parsed)) {
    const statement = { statements: [{ node: { ...template, select_list: [item] } }] };
    item['alias'] = (await toSql(connection, statement)).slice('SELECT '.length);
  }
  const sql = await toSql(connection, change(parsed) as Tree);
  inspectTree(await serializeTree(connection, sql));
  return sql;
}

const toSql = (connection: DuckDBConnection, tree: Tree): Promise<string> =>
  deserializeTree(connection, JSON.stringify({ error: false, ...tree }).replace(/"\\u0000([^"]+)"/g, '$1'));

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
