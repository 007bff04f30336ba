import { DuckDBTimestampValue, type DuckDBConnection, type DuckDBResult } from '@duckdb/node-api';
import { dataError, isValueError, memoryError, queryNotAllowed } from '../engine-failures.ts';
import { inspectTree } from '../inspection/inspect-tree.ts';
import { foldName, isListTable } from '../table-names.ts';
import { serializeTree, isNode, deserializeTree, walkTree, type TreeNode } from '../parse-tree.ts';
import { duck, joinSql, quoteIdentifier, quoteLiteral, type SqlText } from '../sql/sql-text.ts';
import { matchSpellings } from './key-spellings.ts';
import { nameKey, replaceColumns } from './nested-paths.ts';
import { makeLenient, listUnnamedItems } from './lenient-tree.ts';
import { isTimeType, toCell } from './result-values.ts';
import type { ListTable, QueryEnd, QueryJob } from './protocol.ts';

type Row = Record<string, unknown>;

/** Sends rows to the parent process. Resolves once they are delivered, so that a fast query does not fill the memory of either side. */
export type SendRows = (rows: Row[]) => Promise<void>;

/**
 * Runs a query over one window. Always checks the text against the allow-lists again here, in the process that runs it. Sends rows in the
 * order of `_time` and `_id` if the result has them. Cuts the result at `rowsMax` rows or `bytesMax` bytes and then counts the total.
 * `lenient`: an expression that fails on a row is NULL for that row. `tree`: the parse tree of the query, if it is known. `isWhole`: a result that would be
 * cut fails with `query_memory` instead. Throws `data_error` if the query fails because of a value.
 */
export async function runQuery(
  connection: DuckDBConnection,
  job: QueryJob,
  { send, lenient, tree, isWhole }: { send: SendRows; lenient?: Lenient; tree?: string; isWhole?: boolean },
): Promise<QueryEnd> {
  const { wrap, values } = await prepareQuery(connection, {
    job,
    tree: tree ?? (await serializeTree(connection, job.sql)),
    lenient,
  });
  if (job.mode === 'check') {
    const checked = await connection.run(wrap(duck`*`, duck`LIMIT 0`), values);
    return { total: 0, truncated: false, columns: checked.deduplicatedColumnNames() };
  }
  const statement = await connection.prepare(wrap(duck`*`, duck`LIMIT ${job.rowsMax + 1}`));
  statement.bind(values);
  const first = await blameValues(async () => readRows(await statement.stream(), job));
  if (!first.isCut) {
    if (!job.aggregate) sortByKey(first.rows);
    await sendAll(first.rows, send);
    return { total: first.rows.length, truncated: false, columns: first.columns, times: first.times };
  }
  if (isWhole) throw memoryError();
  const ordered = wrap(duck`*`, duck`${orderByClause(first.columns)} LIMIT ${job.rowsMax + 1}`);
  const cut = await blameValues(async () => readRows(await connection.stream(ordered, values), job));
  const counted = await blameValues(() => connection.runAndReadAll(wrap(duck`count(*)`, duck``), values));
  await sendAll(cut.rows.slice(0, job.rowsMax), send);
  return { total: Number(counted.getRows()[0]?.[0]), truncated: true, columns: first.columns, times: first.times };
}

type Lenient = { withOperands: boolean };

/** `wrap` returns the statement that runs the query over its datasets. `values` are its parameters. */
type PreparedQuery = { wrap: (select: SqlText, tail: SqlText) => string; values: Record<string, DuckDBTimestampValue> };

/** Checks a query against the allow-lists and returns what runs it. `tree` is its parse tree from `serializeTree`. */
export async function prepareQuery(
  connection: DuckDBConnection,
  { job, tree, lenient }: { job: QueryJob; tree: string; lenient?: Lenient | undefined },
): Promise<PreparedQuery> {
  const { parameters, tables, lists } = inspectTree(tree);
  checkTables(tables, job);
  await storeLists(connection, lists, job);
  const sql = await prepareText(connection, { job, tree, lenient });
  const values = Object.fromEntries(
    parameters.map((name) => [name, toTimestamp(name === 'window_start' ? job.bounds.from : job.bounds.to)]),
  );
  return { wrap: (select, tail) => wrapQuery(job, sql, select, tail), values };
}

/**
 * Returns the text of a query inside the statement that runs it: the author's, unless its tree has to change or it may end with semicolons,
 * which the text of a tree has not.
 */
async function prepareText(
  connection: DuckDBConnection,
  { job, tree, lenient }: { job: QueryJob; tree: string; lenient?: Lenient | undefined },
): Promise<string> {
  const { sql, spellings, replacements = [], lists = [] } = job;
  if (!lenient && !spellings && replacements.length === 0 && lists.length === 0 && !sql.includes(';')) return sql;
  return changeQuery(connection, tree, {
    expressions: replacements.map((replacement) => replacement.sql),
    change(parsed, nodes) {
      const spelled = spellings ? matchSpellings(parsed, spellings) : parsed;
      const replaced = replaceColumns(
        spelled,
        new Map(replacements.map(({ names }, at) => [nameKey(names), nodes[at]!])),
      );
      return lenient ? makeLenient(replaced, lenient.withOperands) : replaced;
    },
  });
}

/** Throws unless the job defines every dataset that the query reads. An undefined name could refer to something else in the engine. */
function checkTables(tables: string[], job: QueryJob): void {
  const undefinedName = tables.find((name) => !job.tables.some((table) => table.name === name));
  if (undefinedName !== undefined) throw queryNotAllowed(`The table ${undefinedName} is not defined for this query.`);
}

/** The name of a stored list. It has a dot, so that no query can read it in another way. */
const storedListName = (name: string): SqlText => duck`temp.${quoteIdentifier(`lists.${name}`)}`;

/** Stores the lists that a query reads for the connection. An empty cell is null. Throws for a list that the job does not define. */
async function storeLists(connection: DuckDBConnection, names: readonly string[], job: QueryJob): Promise<void> {
  for (const name of names) {
    const list: ListTable | undefined = job.lists?.find((one) => one.name === name);
    if (!list) throw queryNotAllowed(`The value list ${name} is not defined for this query.`);
    const cells = list.columns.map((column, index) => duck`nullif(r[${index + 1}], '') AS ${quoteIdentifier(column)}`);
    const rows = duck`SELECT unnest(from_json(${quoteLiteral(JSON.stringify(list.rows))}, '[["VARCHAR"]]')) AS r`;
    await connection.run(
      duck`CREATE TEMP TABLE IF NOT EXISTS ${storedListName(name)} AS SELECT ${joinSql(cells)} FROM (${rows})`,
    );
  }
}

/** Lets the tables of value lists in an inspected tree refer to the stored ones. */
function useStoredLists(tree: Tree): Tree {
  walkTree(tree, (node) => {
    if (!isListTable(node)) return true;
    const name = String(node['table_name']);
    Object.assign(node, {
      catalog_name: 'temp',
      schema_name: '',
      table_name: `lists.${foldName(name)}`,
      alias: node['alias'] || name,
    });
    return true;
  });
  return tree;
}

/** Executes a statement that the engine has accepted. An error about a value is then an error of the data, not of the query. */
async function blameValues<T>(execute: () => Promise<T>): Promise<T> {
  try {
    return await execute();
  } catch (error) {
    throw isValueError(error) ? dataError(error) : error;
  }
}

/** Returns the statement that runs a query over its datasets. They are CTEs around the query, so that their names cannot refer to anything else. */
function wrapQuery(job: QueryJob, sql: string, select: SqlText, tail: SqlText): string {
  const tables = job.tables.map((table) => duck`${quoteIdentifier(table.name)} AS NOT MATERIALIZED (${table.sql})`);
  const head = tables.length > 0 ? duck`WITH ${joinSql(tables)}\n` : duck``;
  return `${head}SELECT ${select} FROM (${sql}\n) AS "_result" ${tail}`;
}

/** Returns the order that decides which rows are kept if there are too many: by time and ID if the result has them. */
function orderByClause(columns: string[]): SqlText {
  const keys = ['_time', '_id'].filter((name) => columns.includes(name));
  return keys.length > 0 ? duck`ORDER BY ${joinSql(keys.map(quoteIdentifier))}` : duck`ORDER BY ALL`;
}

function toTimestamp(iso: string): DuckDBTimestampValue {
  return new DuckDBTimestampValue(BigInt(Date.parse(iso)) * 1000n);
}

/** `times` are the columns with times. `isCut`: there are more rows than the job's limits allow. */
type RowsRead = { rows: Row[]; columns: string[]; times: string[]; isCut: boolean };

async function readRows(result: DuckDBResult, job: QueryJob): Promise<RowsRead> {
  const columns = result.deduplicatedColumnNames();
  const types = result.columnTypes();
  const times = columns.filter((_, index) => isTimeType(types[index]));
  const rows: Row[] = [];
  let bytes = 0;
  for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
    for (const values of chunk.getRows()) {
      const row = Object.fromEntries(columns.map((name, index) => [name, toCell(values[index] ?? null, types[index])]));
      bytes += estimateBytes(row);
      if (rows.length >= job.rowsMax || bytes > job.bytesMax) return { rows, columns, times, isCut: true };
      rows.push(row);
    }
  }
  return { rows, columns, times, isCut: false };
}

/** Estimates the size of a row as JSON. */
export function estimateBytes(row: Row): number {
  let bytes = 2;
  for (const [key, value] of Object.entries(row)) {
    bytes += key.length + 4;
    if (typeof value === 'string') bytes += value.length;
    else bytes += value !== null && typeof value === 'object' ? JSON.stringify(value).length : 8;
  }
  return bytes;
}

/** Sorts rows by time and id, if they have them. */
export function sortByKey(rows: Row[]): void {
  const first = rows[0];
  if (!first || (!('_time' in first) && !('_id' in first))) return;
  rows.sort((a, b) => compare(a['_time'], b['_time']) || compare(a['_id'], b['_id']));
}

function compare(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const [x, y] = [String(a ?? ''), String(b ?? '')];
  return x < y ? -1 : x > y ? 1 : 0;
}

async function sendAll(rows: Row[], send: SendRows): Promise<void> {
  for (let from = 0; from < rows.length; from += 1000) await send(rows.slice(from, from + 1000));
}

type Tree = { statements: { node: TreeNode }[] };

/**
 * Returns a query's text with a changed parse tree and the same column names. `expressions` are parsed for the change, which gets the tree and
 * their nodes. The result passes the same allow-lists again.
 */
async function changeQuery(
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
  const changed = change(parsed, nodes) as Tree;
  const sql = await toSql(connection, changed);
  const { lists } = inspectTree(await serializeTree(connection, sql));
  return lists.length > 0 ? toSql(connection, useStoredLists(changed)) : sql;
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
