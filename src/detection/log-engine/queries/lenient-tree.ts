import { isNode, type TreeNode } from '../parse-tree.ts';
import { aggregateFunctions } from '../sql/allowed-functions.ts';

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

const isColumn = (value: unknown): value is TreeNode => isNode(value) && value['class'] === 'COLUMN_REF';

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
  const node: TreeNode = {};
  for (const [key, child] of Object.entries(tree)) {
    if (conditions.has(key) && isColumn(child)) node[key] = tryAround(toBoolean(child));
    else if (isConjunction && key === 'children')
      node[key] = (child as TreeNode[]).map((entry) =>
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
export function listUnnamedItems(tree: unknown): TreeNode[] {
  if (Array.isArray(tree)) return tree.flatMap(listUnnamedItems);
  if (!isNode(tree)) return [];
  const items = (tree['select_list'] as TreeNode[] | undefined) ?? [];
  const unnamed = items.filter((item) => item['alias'] === '' && item['class'] !== 'COLUMN_REF' && !hasStar(item));
  return [...unnamed, ...Object.values(tree).flatMap(listUnnamedItems)];
}

function hasStar(item: unknown): boolean {
  if (Array.isArray(item)) return item.some(hasStar);
  if (!isNode(item) || item['class'] === 'SUBQUERY') return false;
  return item['class'] === 'STAR' || Object.values(item).some(hasStar);
}

const tryAround = (node: TreeNode): TreeNode => ({
  class: 'OPERATOR',
  type: 'OPERATOR_TRY',
  alias: node['alias'] ?? '',
  query_location: node['query_location'],
  children: [{ ...node, alias: '' }],
});

/** Returns `NOT (NOT column)`, which converts a column of text to a truth value inside `TRY`. */
const toBoolean = (column: TreeNode): TreeNode => negate(negate(column));
const negate = (child: TreeNode): TreeNode => ({
  class: 'OPERATOR',
  type: 'OPERATOR_NOT',
  alias: '',
  query_location: child['query_location'],
  children: [child],
});

/** Returns whether an expression can fail on a row and may stand inside `TRY`, which accepts no subqueries, aggregates and windows. */
function isFallible(node: TreeNode): boolean {
  const kind = String(node['class']);
  if (kind === 'OPERATOR' ? !fallibleOperators.has(String(node['type'])) : !isFallibleClass(node, kind)) return false;
  return containsNode(node, isColumn) && !containsNode(node, isOpaque);
}

function isFallibleClass(node: TreeNode, kind: string): boolean {
  return kind === 'CAST' || kind === 'COMPARISON' || kind === 'BETWEEN' || (kind === 'FUNCTION' && !isOpaque(node));
}

const isOpaque = (node: TreeNode): boolean =>
  node['class'] === 'SUBQUERY' ||
  node['class'] === 'WINDOW' ||
  (node['class'] === 'FUNCTION' &&
    (aggregateFunctions.has(String(node['function_name']).toLowerCase()) || node['function_name'] === 'unnest'));

function containsNode(value: unknown, accepts: (node: TreeNode) => boolean): boolean {
  if (Array.isArray(value)) return value.some((entry) => containsNode(entry, accepts));
  if (!isNode(value)) return false;
  return accepts(value) || Object.values(value).some((child) => containsNode(child, accepts));
}

const words = (text: string): string[] => text.split(/\s+/).filter(Boolean);
const bitOperators = new Set(words('& | << >> ~ xor bit_count'));
const arithmetic = new Set(
  words(`+ - * / // % ** ^ add subtract multiply divide mod pow power abs ceil ceiling floor round sqrt ln log log10 log2 exp sum avg mean median
    mad stddev stddev_pop stddev_samp variance var_pop var_samp quantile quantile_cont quantile_disc product fsum favg sumkahan kahan_sum`),
);
const timeFunctions = new Set(
  words(`date_trunc datetrunc date_part datepart date_diff datediff date_sub datesub date_add strftime epoch epoch_ms epoch_us year quarter
    month week day hour minute second dayofweek isodow dayofyear dayname monthname last_day time_bucket`),
);
const textSources = new Set(['json_extract_string', '->>']);
const times = new Set(['_time', '_ingested']);

/**
 * Returns a function call whose operands that may be columns of text or decimals are converted to what it needs: numbers, times or lists. Other
 * calls, and arithmetic with times and intervals, stay as they are.
 */
function convertOperands(call: TreeNode): TreeNode {
  const name = String(call['function_name']).toLowerCase();
  const children = (call['children'] as TreeNode[] | undefined) ?? [];
  const convert = findConversion(name, children);
  return convert
    ? { ...call, children: children.map((child, index) => (mayBeText(child) ? convert(child, index) : child)) }
    : call;
}

function findConversion(
  name: string,
  children: TreeNode[],
): ((child: TreeNode, index: number) => TreeNode) | undefined {
  if (timeFunctions.has(name)) return (child) => castTo(child, { id: 'TIMESTAMP', type_info: null });
  if (/^(?:list|array)_/.test(name))
    return (child, index) => (index === 0 ? castTo(castTo(child, json), textList) : child);
  if (children.some(isTime)) return undefined;
  if (bitOperators.has(name)) return (child) => castTo(child, { id: 'BIGINT', type_info: null });
  return arithmetic.has(name) ? (child) => castTo(child, { id: 'DOUBLE', type_info: null }) : undefined;
}

const mayBeText = (node: TreeNode): boolean =>
  (node['class'] === 'COLUMN_REF' && !isTime(node)) ||
  node['type'] === 'OPERATOR_COALESCE' ||
  (node['class'] === 'FUNCTION' && textSources.has(String(node['function_name'])));

function isTime(node: TreeNode): boolean {
  if (node['class'] === 'COLUMN_REF') return times.has(String((node['column_names'] as string[]).at(-1)).toLowerCase());
  if (node['class'] === 'PARAMETER') return true;
  if (node['class'] === 'CAST') return /TIME|DATE|INTERVAL/.test(JSON.stringify(node['cast_type']));
  return node['class'] === 'FUNCTION' && /^(?:to_|date_|make_|epoch|strptime|time)/.test(String(node['function_name']));
}

type CastType = { id: string; type_info: unknown };

const json: CastType = {
  id: 'UNBOUND',
  type_info: {
    type: 'UNBOUND_TYPE_INFO',
    alias: '',
    extension_info: null,
    name: 'json',
    catalog: '',
    schema: '',
    user_type_modifiers: [],
  },
};
const textList: CastType = {
  id: 'LIST',
  type_info: {
    type: 'LIST_TYPE_INFO',
    alias: '',
    extension_info: null,
    child_type: { id: 'VARCHAR', type_info: null },
  },
};

const castTo = (child: TreeNode, type: CastType): TreeNode => ({
  class: 'CAST',
  type: 'OPERATOR_CAST',
  alias: '',
  query_location: child['query_location'],
  child,
  cast_type: type,
  try_cast: true,
});
