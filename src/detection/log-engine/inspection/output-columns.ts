import type { ColumnKind } from '../../siem/connector.ts';
import { aggregateFunctions } from '../sql/allowed-functions.ts';
import { foldName, isListTable } from '../table-names.ts';
import { parseJsonPath } from './field-paths.ts';
import {
  constantText,
  functionName,
  isNode,
  isNull,
  nodesOf,
  operandsOf,
  walkTree,
  type TreeNode,
} from '../parse-tree.ts';

/** The keys of an event of a table that lead to a value. Those of the whole event are empty. */
type Origin = { table: string; keys: string[] };

/** The kind of an expression's value, and if the value is copied unchanged from an event, its place there. */
type Expression = { kind: ColumnKind; origin?: Origin | undefined };

/** A column that a query returns, or all columns of what it reads (`*`), of which none is worse than `kind`. `origin` of `*` is the whole event. */
export type OutputColumn = ({ name: string } | { star: true }) & Expression;

/** The columns of a query. `isEvents`: each row is one event of a dataset, and no event has two rows. */
type Query = { columns: readonly OutputColumn[]; isEvents: boolean };

/** A table or subquery that a query reads. The alias is in lower case. */
type Source = { alias: string; columns: readonly OutputColumn[] };

/** The sources of a SELECT. `defined` are the names that its list defines other than as a column of the same name. */
type From = { sources: readonly Source[]; isEvents: boolean; defined: ReadonlySet<string> };

type Ctes = ReadonlyMap<string, Query>;

const columnsMax = 1_000;
const unknown: Query = { columns: [{ star: true, kind: 'other' }], isEvents: false };
const eventsOf = (table: string): Query => ({
  columns: [{ star: true, kind: 'value', origin: { table, keys: [] } }],
  isEvents: true,
});

/**
 * Returns what is certain of the columns that a statement returns: whether each has values of events as they are, or an aggregate of them. In any
 * doubt a column is `other`, so that no query can present a value of its own as data. `tree` is a parse tree that `inspectTree` has accepted.
 */
export function listOutputColumns(tree: TreeNode): OutputColumn[] {
  const [statement] = nodesOf(tree['statements']);
  return [...readQuery(statement?.['node'], new Map()).columns];
}

/** Returns the kinds of the columns of a result, in order. A list with `*` fills the columns between those that it lists. */
export function toColumnKinds(outputs: readonly OutputColumn[], columns: number): ColumnKind[] {
  const first = outputs.findIndex((output) => 'star' in output);
  if (first === -1)
    return outputs.length === columns
      ? outputs.map(({ kind }) => kind)
      : Array.from({ length: columns }, () => 'other');
  const after = outputs.length - 1 - outputs.findLastIndex((output) => 'star' in output);
  const starred = outputs.slice(first, outputs.length - after);
  const middle = columns - first - after;
  if (middle < 0) return Array.from({ length: columns }, () => 'other');
  return [
    ...outputs.slice(0, first).map(({ kind }) => kind),
    ...Array.from({ length: middle }, () => commonKind(starred)),
    ...outputs.slice(outputs.length - after).map(({ kind }) => kind),
  ];
}

/** Returns the kind that all columns have, or else `other`. */
function commonKind(columns: readonly { kind: ColumnKind }[]): ColumnKind {
  const [kind = 'other', ...rest] = new Set(columns.map((column) => column.kind));
  return rest.length === 0 ? kind : 'other';
}

const collapse = (columns: readonly OutputColumn[]): OutputColumn[] => [{ star: true, kind: commonKind(columns) }];

function readQuery(node: unknown, outer: Ctes): Query {
  if (!isNode(node)) return unknown;
  const ctes = addCtes(node, outer);
  if (node['type'] === 'SET_OPERATION_NODE') return readSetOperation(node, ctes);
  if (node['type'] !== 'SELECT_NODE') return unknown;
  const list = nodesOf(node['select_list']);
  const from = { ...readFrom(node['from_table'], ctes), defined: listDefined(list) };
  const columns = list.flatMap((item) => readItem(item, from));
  // Every `*` can repeat the columns of another.
  const bounded = columns.length > columnsMax ? collapse(columns) : columns;
  return { columns: bounded, isEvents: from.isEvents && passesEvents(node) };
}

/** The columns of a union are those of both sides by position, and have the kind that both have. Other operations return rows of the left side. */
function readSetOperation(node: TreeNode, ctes: Ctes): Query {
  const left = readQuery(node['left'], ctes).columns;
  if (node['setop_type'] === 'EXCEPT' || node['setop_type'] === 'INTERSECT') return { columns: left, isEvents: false };
  const right = readQuery(node['right'], ctes).columns;
  const all = [...left, ...right];
  const isByPosition = node['setop_type'] === 'UNION' && !all.some((column) => 'star' in column);
  if (!isByPosition || left.length !== right.length) return { columns: collapse(all), isEvents: false };
  const columns = left.map((column, at) => ({ ...column, kind: commonKind([column, right[at]!]), origin: undefined }));
  return { columns, isEvents: false };
}

function addCtes(node: TreeNode, outer: Ctes): Ctes {
  const ctes = new Map(outer);
  for (const entry of nodesOf((node['cte_map'] as TreeNode | undefined)?.['map'])) {
    const { aliases, query } = entry['value'] as { aliases?: unknown; query: TreeNode };
    const read = readQuery(query['node'], ctes);
    const isRenamed = Array.isArray(aliases) && aliases.length > 0;
    ctes.set(foldName(String(entry['key'])), isRenamed ? { ...read, columns: collapse(read.columns) } : read);
  }
  return ctes;
}

function readFrom(from: unknown, ctes: Ctes): Omit<From, 'defined'> {
  if (!isNode(from)) return { sources: [], isEvents: false };
  if (from['type'] === 'JOIN') return readJoin(from, ctes);
  const alias = String(from['alias'] ?? '') || String(from['table_name'] ?? '');
  const read = readTable(from, ctes);
  const isRenamed = countEntries(from['column_name_alias']) > 0;
  const columns = isRenamed ? collapse(read.columns) : read.columns;
  return { sources: [{ alias: alias.toLowerCase(), columns }], isEvents: read.isEvents };
}

const countEntries = (list: unknown): number => (Array.isArray(list) ? list.length : 0);

function readTable(from: TreeNode, ctes: Ctes): Query {
  if (from['type'] === 'SUBQUERY') return readQuery((from['subquery'] as TreeNode)['node'], ctes);
  const table = foldName(String(from['table_name']));
  return from['type'] === 'BASE_TABLE' && !isListTable(from) ? (ctes.get(table) ?? eventsOf(table)) : unknown;
}

/** A join multiplies rows, unless it only tests whether the other side has one. */
function readJoin(node: TreeNode, ctes: Ctes): Omit<From, 'defined'> {
  const left = readFrom(node['left'], ctes);
  if (node['join_type'] === 'SEMI' || node['join_type'] === 'ANTI') return left;
  const both = [...left.sources, ...readFrom(node['right'], ctes).sources];
  const isMerged = node['ref_type'] === 'NATURAL' || countEntries(node['using_columns']) > 0;
  const sources = isMerged ? both.map((source) => ({ ...source, columns: collapse(source.columns) })) : both;
  return { sources, isEvents: false };
}

const aliasOf = (item: TreeNode): string => String(item['alias'] ?? '').toLowerCase();

/** Lists the names that a SELECT list defines, which may hide a column of the same name. */
function listDefined(list: readonly TreeNode[]): ReadonlySet<string> {
  const columnOf = (item: TreeNode): string | undefined =>
    item['class'] === 'COLUMN_REF' ? (item['column_names'] as string[]).at(-1)!.toLowerCase() : undefined;
  return new Set(list.filter((item) => columnOf(item) !== aliasOf(item)).map(aliasOf));
}

function readItem(item: TreeNode, from: From): OutputColumn[] {
  if (item['class'] === 'STAR') return readStar(item, from);
  const column = item['class'] === 'COLUMN_REF' ? (item['column_names'] as string[]).at(-1)! : '';
  return [{ name: aliasOf(item) || column.toLowerCase(), ...readExpression(item, from) }];
}

function readStar(item: TreeNode, { sources }: From): OutputColumn[] {
  const relation = String(item['relation_name'] ?? '').toLowerCase();
  const columns = sources.filter(({ alias }) => relation === '' || alias === relation).flatMap((one) => one.columns);
  const changes = ['replace_list', 'rename_list'].some((key) => countEntries(item[key]) > 0);
  if (columns.length === 0 || changes || item['columns'] === true || item['expr']) return [...unknown.columns];
  const excludes = ['exclude_list', 'qualified_exclude_list'].some((key) => countEntries(item[key]) > 0);
  return excludes && columns.length > 1 ? collapse(columns) : columns;
}

/** Readers of one key of an object, which return what it contains. */
const keyReaders = new Set(['->', '->>', 'json_extract', 'json_extract_string', 'winlog']);
const aggregates: Readonly<Record<string, ColumnKind>> = { count: 'count', sum: 'sum', min: 'least', max: 'greatest' };

function readExpression(node: TreeNode, from: From): Expression {
  if (node['class'] === 'COLUMN_REF') return readColumn(node['column_names'] as string[], from);
  if (node['class'] === 'CAST') {
    const isText = (node['cast_type'] as TreeNode)['id'] === 'VARCHAR';
    return (isText && readValue(node['child'], from)) || other;
  }
  const name = functionName(node);
  if (name === undefined) return other;
  const [first, second] = operandsOf(node);
  if (keyReaders.has(name)) return readKey(name, constantText(second), readValue(first, from));
  return { kind: from.isEvents ? kindOfAggregate(node, name, from) : 'other' };
}

const other: Expression = { kind: 'other' };

/** Returns what is known of an expression if it is a value. */
function readValue(node: unknown, from: From): Expression | undefined {
  const read = isNode(node) ? readExpression(node, from) : other;
  return read.kind === 'value' ? read : undefined;
}

function readKey(name: string, path: string | undefined, object: Expression | undefined): Expression {
  if (path === undefined || !object) return other;
  // `winlog` reads one of several keys.
  const keys = name === 'winlog' ? undefined : parseJsonPath(path);
  return { kind: 'value', origin: keys && extend(object.origin, keys) };
}

const extend = (origin: Origin | undefined, keys: readonly string[]): Origin | undefined =>
  origin && { ...origin, keys: [...origin.keys, ...keys] };

function kindOfAggregate(node: TreeNode, name: string, from: From): ColumnKind {
  if (name === 'count_star') return 'count';
  const kind = Object.hasOwn(aggregates, name) ? aggregates[name]! : 'other';
  const [first, ...rest] = operandsOf(node);
  if (kind === 'other' || !first || rest.length > 0) return 'other';
  const isCounted = kind === 'count' && !node['distinct'] && first['class'] === 'CONSTANT' && !isNull(first);
  if (isCounted) return 'count';
  if (!readValue(first, from)) return 'other';
  if (!node['distinct']) return kind;
  return kind === 'count' ? 'countDistinct' : kind === 'sum' ? 'other' : kind;
}

/** A key inside of a value is a value. */
function readColumn(names: readonly string[], { sources, defined }: From): Expression {
  const source = sources.find(({ alias }) => alias === names[0]!.toLowerCase());
  // A whole row may have columns of any kind.
  if (source && names.length === 1) return other;
  if (defined.has(names[0]!.toLowerCase())) return other;
  const [column, ...keys] = (source ? names.slice(1) : names) as [string, ...string[]];
  const found = (source ? [source] : sources).flatMap(({ columns }) => findColumns(columns, column.toLowerCase()));
  const kind = commonKind(found);
  if (keys.length > 0 && kind !== 'value') return other;
  return { kind, origin: found.length === 1 ? originOfColumn(found[0]!, column, keys) : undefined };
}

/** Returns where a column comes from that a column of a source, or its `*`, stands for. */
function originOfColumn(found: OutputColumn, column: string, keys: readonly string[]): Origin | undefined {
  const isKey = 'star' in found && column.toLowerCase() !== '_event';
  return extend(found.origin, isKey ? [column, ...keys] : keys);
}

/** Returns every column that a name may stand for. */
const findColumns = (columns: readonly OutputColumn[], name: string): OutputColumn[] =>
  columns.filter((column) => 'star' in column || column.name === name);

/** Returns whether a SELECT returns the rows that it reads, each once or not at all. */
function passesEvents(node: TreeNode): boolean {
  if (node['aggregate_handling'] !== 'STANDARD_HANDLING' || nodesOf(node['group_expressions']).length > 0) return false;
  if (isNode(node['having']) || isNode(node['qualify']) || isNode(node['sample'])) return false;
  if (nodesOf(node['modifiers']).some(({ type }) => type !== 'ORDER_MODIFIER')) return false;
  let passes = true;
  walkTree(node['select_list'], (inner) => {
    const name = functionName(inner);
    if (name === 'unnest' || (name !== undefined && aggregateFunctions.has(name))) passes = false;
    return passes;
  });
  return passes;
}
