import type { TreeNode } from '../parse-tree.ts';
import { queryNotAllowed, authorError } from '../engine-failures.ts';
import { eventFunctions } from '../sql/added-functions.ts';
import {
  aggregateFunctions,
  allowedFunctions,
  allowedTableFunctions,
  suggestAlternative,
  clockFunctions,
} from '../sql/allowed-functions.ts';
import { jsonReaders, listJsonPaths } from '../json-paths.ts';
import { checkCteName, foldName, isListTable, readDatasetName, readListName } from '../table-names.ts';
import { checkArguments, checkArrayType, checkShapes } from './tree-shapes.ts';
import { listOptionalColumns, type Inspection } from './inspection.ts';
import { listOutputColumns } from './output-columns.ts';
import { findCrossEventPart } from './cross-event-part.ts';
import { readFilters } from './read-filters.ts';

type Scope = { ctes: ReadonlySet<string>; isOuter: boolean };

const parametersAllowed = new Set(['window_start', 'window_end']);
const eventReaders = new Set([...eventFunctions, ...jsonReaders]);

/**
 * Checks a query against the allow-lists and returns what it reads. The input is the parse tree that DuckDB's `json_serialize_sql` returns,
 * in which every node has a class or a type.
 * Throws a SiemError: `query_error` for a query that does not parse, `query_not_allowed` for anything but one SELECT over datasets.
 */
export function inspectTree(serialized: string): Inspection {
  const tree = parseJson(serialized);
  if (tree['error'] === true) throw parseError(tree);
  const statements = tree['statements'] as TreeNode[];
  if (statements.length !== 1)
    throw queryNotAllowed(`A query must be exactly one statement, but this text has ${statements.length}.`);
  checkShapes(tree);
  const inspection: Inspection = {
    tables: [],
    lists: [],
    columns: [],
    optional: [],
    aliases: [],
    rowNames: [],
    allColumns: false,
    eventAsText: true,
    aggregate: false,
    parameters: [],
    jsonPaths: listJsonPaths(tree),
    filters: {},
    outputs: [],
    crossEventPart: null,
  };
  visit(statements[0], { ctes: new Set(), isOuter: true }, inspection);
  checkListColumns(inspection);
  inspection.optional = listOptionalColumns(tree, inspection.aliases);
  inspection.columns = [...new Map(inspection.columns.map((names) => [JSON.stringify(names), names])).values()];
  const rowNames = new Set(inspection.rowNames);
  if (inspection.columns.some((names) => names.length === 1 && rowNames.has(names[0]!.toLowerCase())))
    inspection.allColumns = true;
  inspection.filters = readFilters(tree, inspection.tables);
  inspection.outputs = listOutputColumns(tree);
  inspection.crossEventPart = findCrossEventPart({ ...inspection, tree });
  return inspection;
}

/** The engine writes a literal such as `1e400` as `Infinity`, which is not JSON. */
function parseJson(serialized: string): TreeNode {
  try {
    return JSON.parse(serialized) as TreeNode;
  } catch {
    throw authorError('query_error', 'A number in the query is too large.');
  }
}

function parseError(tree: TreeNode): Error {
  const message = String(tree['error_message'] ?? '');
  if (tree['error_type'] === 'parser' || tree['error_type'] === 'syntax') {
    const position = Number(tree['position']);
    return authorError('query_error', Number.isInteger(position) ? `${message} (character ${position + 1})` : message);
  }
  if (message.startsWith('Only SELECT')) return queryNotAllowed('A query must be one SELECT statement.');
  return queryNotAllowed(message || 'This statement is not allowed as a query.');
}

function visit(value: unknown, scope: Scope, inspection: Inspection): void {
  if (Array.isArray(value)) {
    for (const entry of value) visit(entry, scope, inspection);
    return;
  }
  if (value === null || typeof value !== 'object') return;
  const node = value as TreeNode;
  if (typeof node['class'] === 'string') visitExpression(node, scope, inspection);
  else if (typeof node['type'] === 'string') visitNode(node, node['type'], scope, inspection);
  else visitChildren(node, scope, inspection);
}

function visitChildren(node: TreeNode, scope: Scope, inspection: Inspection): void {
  for (const child of Object.values(node)) if (typeof child === 'object') visit(child, scope, inspection);
}

function addAlias(node: TreeNode, inspection: Inspection): void {
  if (typeof node['alias'] === 'string' && node['alias'] !== '') inspection.aliases.push(node['alias'].toLowerCase());
}

function addRowName(name: string, inspection: Inspection): void {
  if (name === '') return;
  inspection.aliases.push(name.toLowerCase());
  inspection.rowNames.push(name.toLowerCase());
}

function visitExpression(node: TreeNode, scope: Scope, inspection: Inspection): void {
  const kind = String(node['class']);
  addAlias(node, inspection);
  if (kind === 'COLUMN_REF') visitColumn(node, inspection);
  if (kind === 'STAR' || kind === 'POSITIONAL_REFERENCE') inspection.allColumns = true;
  if (kind === 'PARAMETER') addParameter(node, inspection);
  if (kind === 'FUNCTION' || kind === 'WINDOW') visitCall(node, kind, scope, inspection);
  else if (kind === 'SUBQUERY') visitChildren(node, { ...scope, isOuter: false }, inspection);
  else if (kind === 'LAMBDA') visitJsonReader(node, [node['lhs'], node['expr']], scope, inspection);
  else visitChildren(node, scope, inspection);
}

function visitColumn(node: TreeNode, inspection: Inspection): void {
  const names = node['column_names'] as string[];
  const last = lastName(node)!;
  if (names.length === 1 && clockFunctions.includes(last))
    throw queryNotAllowed(`${last} is not allowed in a query: ${suggestAlternative(last)}.`);
  if (last === '_event') inspection.eventAsText = false;
  inspection.columns.push(names);
}

function addParameter(node: TreeNode, inspection: Inspection): void {
  const name = String(node['identifier']);
  if (!parametersAllowed.has(name))
    throw queryNotAllowed(`The parameter $${name} is unknown. Use $window_start or $window_end.`);
  if (!inspection.parameters.includes(name)) inspection.parameters.push(name);
}

function checkName(node: TreeNode, what: string): string {
  const name = foldName(String(node['function_name']));
  const prefix = [node['catalog'], node['schema']].filter((part) => part && part !== 'main').join('.');
  if (prefix)
    throw queryNotAllowed(`The ${what} ${prefix}.${name} is not allowed in a query. Call functions without a schema.`);
  return name;
}

function visitCall(node: TreeNode, kind: string, scope: Scope, inspection: Inspection): void {
  const name = checkName(node, 'function');
  if (!allowedFunctions.has(name)) {
    const instead = suggestAlternative(name);
    throw queryNotAllowed(`The function ${name} is not allowed in a query${instead ? `: ${instead}` : ''}.`);
  }
  checkArguments(name, node['children'] as unknown[]);
  if (kind === 'FUNCTION' && scope.isOuter && aggregateFunctions.has(name)) inspection.aggregate = true;
  if (eventReaders.has(name)) visitJsonReader(node, node['children'] as unknown[], scope, inspection);
  else visitChildren(node, scope, inspection);
}

/** Rejects `a = 1 AND x->>'$.b'`. The engine parses it as `(a = 1 AND x)->>'$.b'`, which fails only when a row reaches it. */
function rejectWeakArrow(first: TreeNode | undefined): void {
  const kind = String(first?.['class']);
  if (!['CONJUNCTION', 'COMPARISON', 'BETWEEN'].includes(kind) && first?.['type'] !== 'OPERATOR_NOT') return;
  throw authorError(
    'query_error',
    "The arrows -> and ->> bind more weakly than AND, NOT and =. Put them in parentheses, as in (_event->>'$.a') = 'x'.",
  );
}

function visitJsonReader(node: TreeNode, children: unknown[], scope: Scope, inspection: Inspection): void {
  const first = children[0] as TreeNode | undefined;
  rejectWeakArrow(first);
  const isEventFirst = first?.['class'] === 'COLUMN_REF' && lastName(first) === '_event';
  const wasEventAsText = inspection.eventAsText;
  visitChildren(node, scope, inspection);
  // Visiting the children cleared the flag because of `_event` itself. Restore it unless the call uses `_event` a second time.
  if (isEventFirst && wasEventAsText) inspection.eventAsText = countEventUses(children) === 1;
}

function countEventUses(value: unknown): number {
  if (value === null || typeof value !== 'object') return 0;
  const isUse = (value as TreeNode)['class'] === 'COLUMN_REF' && lastName(value as TreeNode) === '_event';
  return Number(isUse) + Object.values(value).reduce((sum: number, child) => sum + countEventUses(child), 0);
}

function lastName(node: TreeNode): string | undefined {
  return (node['column_names'] as string[] | undefined)?.at(-1)?.toLowerCase();
}

function visitNode(node: TreeNode, type: string, scope: Scope, inspection: Inspection): void {
  addRowName(String(node['alias'] ?? ''), inspection);
  if (type === 'BASE_TABLE') visitTable(node, scope, inspection);
  if (type === 'TABLE_FUNCTION') return visitTableFunction(node, scope, inspection);
  if (type === 'UNBOUND_TYPE_INFO' && (node['catalog'] || node['schema']))
    throw queryNotAllowed('Types with a schema are not allowed in a query.');
  if (type === 'ARRAY_TYPE_INFO') checkArrayType(node);
  if (type === 'JOIN') visitJoin(node, inspection);
  if (Array.isArray(node['column_name_alias']) && node['column_name_alias'].length > 0) inspection.allColumns = true;
  if (type.endsWith('_NODE')) return visitQuery(node, type, scope, inspection);
  if (type === 'DISTINCT_MODIFIER' && scope.isOuter) inspection.aggregate = true;
  visitChildren(node, scope, inspection);
}

/** A list has no schema in the statement that runs, so that a column of it can only follow its name or alias. */
function checkListColumns({ lists, columns }: Inspection): void {
  const column = columns.find(
    ([schema, list]) => schema?.toLowerCase() === 'lists' && lists.includes(foldName(String(list))),
  );
  if (column)
    throw queryNotAllowed(
      `Write ${column.slice(1).join('.')} instead of ${column.join('.')}, or give the list an alias.`,
    );
}

function visitTable(node: TreeNode, scope: Scope, inspection: Inspection): void {
  const name = String(node['table_name']);
  if (isListTable(node)) {
    addRowName(name, inspection);
    const list = readListName(name);
    if (!inspection.lists.includes(list)) inspection.lists.push(list);
    return;
  }
  const qualified = [node['catalog_name'], node['schema_name'], name].filter(Boolean).join('.');
  if (qualified !== name)
    throw queryNotAllowed(
      `The table ${qualified} is not allowed in a query. Use dataset names without a schema, and lists.<name> for a value list.`,
    );
  addRowName(name, inspection);
  if (scope.ctes.has(foldName(name))) return checkCteName(name);
  const table = readDatasetName(name);
  if (!inspection.tables.includes(table)) inspection.tables.push(table);
}

function visitTableFunction(node: TreeNode, scope: Scope, inspection: Inspection): void {
  const call = node['function'] as TreeNode;
  const name = checkName(call, 'table function');
  if (call['class'] !== 'FUNCTION' || !allowedTableFunctions.has(name))
    throw queryNotAllowed(`The table function ${name} is not allowed in a query.`);
  addRowName(name, inspection);
  for (const [key, child] of Object.entries(node)) if (key !== 'function') visit(child, scope, inspection);
  visitChildren(call, scope, inspection);
}

function visitJoin(node: TreeNode, inspection: Inspection): void {
  if (node['ref_type'] === 'NATURAL') inspection.allColumns = true;
  for (const name of (node['using_columns'] as string[] | undefined) ?? []) inspection.columns.push([name]);
}

function visitQuery(node: TreeNode, type: string, scope: Scope, inspection: Inspection): void {
  const ctes = new Set(scope.ctes);
  for (const entry of ((node['cte_map'] as TreeNode)['map'] as TreeNode[]) ?? []) {
    const name = String(entry['key']);
    checkCteName(name);
    addRowName(name, inspection);
    // A CTE sees the CTEs before it. Its own name refers to what is visible outside, except in the second branch of a recursive CTE.
    visit(entry['value'], { ...scope, ctes: new Set(ctes) }, inspection);
    ctes.add(foldName(name));
  }
  const isGrouped =
    ((node['group_expressions'] as unknown[] | undefined) ?? []).length > 0 ||
    node['aggregate_handling'] === 'FORCE_AGGREGATES';
  if (scope.isOuter && isGrouped) inspection.aggregate = true;
  const inner = { ...scope, ctes };
  for (const [key, child] of Object.entries(node)) {
    if (key === 'right' && type === 'RECURSIVE_CTE_NODE')
      visit(child, { ...scope, ctes: new Set([...ctes, foldName(String(node['cte_name']))]) }, inspection);
    else if (key !== 'cte_map') visit(child, inner, inspection);
  }
}
