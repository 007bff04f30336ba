import { aggregateFunctions } from '../functions/allowed-functions.ts';
import { convertOperands } from './lenient-operands.ts';

type Node = Record<string, unknown>;

const fallibleOperators = new Set([
  'OPERATOR_NOT',
  'OPERATOR_COALESCE',
  'COMPARE_IN',
  'COMPARE_NOT_IN',
  'ARRAY_EXTRACT',
  'ARRAY_SLICE',
  'STRUCT_EXTRACT',
]);
/** Properties of a node that hold a condition. A column of text can stand there, which the engine converts. */
const conditions = new Set(['where_clause', 'having', 'qualify', 'condition', 'filter', 'when_expr']);
/** Nodes that must stay as they are: their expressions must be constant, or `TRY` cannot be part of them. */
const untouched = new Set(['LAMBDA', 'TABLE_FUNCTION', 'LIMIT_MODIFIER', 'LIMIT_PERCENT_MODIFIER']);

const isNode = (value: unknown): value is Node => value !== null && typeof value === 'object' && !Array.isArray(value);
const isColumn = (value: unknown): value is Node => isNode(value) && value['class'] === 'COLUMN_REF';

/**
 * Returns the parse tree of a query in which an expression that fails on a row is NULL for that row: casts become `TRY_CAST`, and comparisons,
 * operators and function calls stand inside `TRY`. `withOperands`: also converts operands to numbers, times and lists, which the engine itself
 * does not.
 */
export function makeLenient(tree: unknown, withOperands: boolean): unknown {
  if (Array.isArray(tree)) return tree.map((entry) => makeLenient(entry, withOperands));
  if (!isNode(tree)) return tree;
  if (untouched.has(String(tree['class'])) || untouched.has(String(tree['type']))) return tree;
  const isConjunction = tree['class'] === 'CONJUNCTION';
  const node: Node = {};
  for (const [key, child] of Object.entries(tree)) {
    if (conditions.has(key) && isColumn(child)) node[key] = tryAround(toBoolean(child));
    else if (isConjunction && key === 'children')
      node[key] = (child as Node[]).map((entry) =>
        isColumn(entry) ? tryAround(toBoolean(entry)) : makeLenient(entry, withOperands),
      );
    else node[key] = makeLenient(child, withOperands);
  }
  if (node['class'] === 'CAST') return { ...node, try_cast: true };
  const converted = withOperands && node['class'] === 'FUNCTION' ? convertOperands(node) : node;
  return isFallible(tree) ? tryAround(converted) : converted;
}

/**
 * Returns the items of select lists that need an alias, because their text names their column and a change of the tree may change it. An item
 * with a star stands for several columns.
 */
export function listUnnamedItems(tree: unknown): Node[] {
  if (Array.isArray(tree)) return tree.flatMap(listUnnamedItems);
  if (!isNode(tree)) return [];
  const items = (tree['select_list'] as Node[] | undefined) ?? [];
  const unnamed = items.filter((item) => item['alias'] === '' && item['class'] !== 'COLUMN_REF' && !hasStar(item));
  return [...unnamed, ...Object.values(tree).flatMap(listUnnamedItems)];
}

function hasStar(item: unknown): boolean {
  if (Array.isArray(item)) return item.some(hasStar);
  if (!isNode(item) || item['class'] === 'SUBQUERY') return false;
  return item['class'] === 'STAR' || Object.values(item).some(hasStar);
}

const tryAround = (node: Node): Node => ({
  class: 'OPERATOR',
  type: 'OPERATOR_TRY',
  alias: node['alias'] ?? '',
  query_location: node['query_location'],
  children: [{ ...node, alias: '' }],
});

/** Returns `NOT (NOT column)`, which converts a column of text to a truth value inside `TRY`. */
const toBoolean = (column: Node): Node => negate(negate(column));
const negate = (child: Node): Node => ({
  class: 'OPERATOR',
  type: 'OPERATOR_NOT',
  alias: '',
  query_location: child['query_location'],
  children: [child],
});

/** Returns whether an expression can fail on a row and may stand inside `TRY`, which accepts no subqueries, aggregates and windows. */
function isFallible(node: Node): boolean {
  const kind = String(node['class']);
  if (kind === 'OPERATOR' ? !fallibleOperators.has(String(node['type'])) : !isFallibleClass(node, kind)) return false;
  return containsNode(node, isColumn) && !containsNode(node, isOpaque);
}

function isFallibleClass(node: Node, kind: string): boolean {
  return kind === 'CAST' || kind === 'COMPARISON' || kind === 'BETWEEN' || (kind === 'FUNCTION' && !isOpaque(node));
}

const isOpaque = (node: Node): boolean =>
  node['class'] === 'SUBQUERY' ||
  node['class'] === 'WINDOW' ||
  (node['class'] === 'FUNCTION' &&
    (aggregateFunctions.has(String(node['function_name']).toLowerCase()) || node['function_name'] === 'unnest'));

function containsNode(value: unknown, accepts: (node: Node) => boolean): boolean {
  if (Array.isArray(value)) return value.some((entry) => containsNode(entry, accepts));
  if (!isNode(value)) return false;
  return accepts(value) || Object.values(value).some((child) => containsNode(child, accepts));
}
