import type { TreeNode } from '../parse-tree.ts';
import { queryNotAllowed } from '../engine-failures.ts';

/**
 * The fields of one kind of node that the inspection understands. In the tables below, `name` is a field with any content, `name=A|B` one
 * with a closed set of values, and `name:kind` one whose objects have neither a class nor a type and are of that kind of `parts`.
 */
type Shape = ReadonlyMap<string, { values?: ReadonlySet<string>; part?: string }>;
type Shapes = ReadonlyMap<string, Shape>;

const comparisons =
  'COMPARE_EQUAL|COMPARE_NOTEQUAL|COMPARE_LESSTHAN|COMPARE_GREATERTHAN|COMPARE_LESSTHANOREQUALTO|COMPARE_GREATERTHANOREQUALTO';
const frameEdges = ['ROWS', 'RANGE', 'GROUPS'].map(
  (unit) => `CURRENT_ROW_${unit}|EXPR_PRECEDING_${unit}|EXPR_FOLLOWING_${unit}`,
);
const frame = ['UNBOUNDED_PRECEDING', 'UNBOUNDED_FOLLOWING', ...frameEdges].join('|');

/** Expressions, by class. */
const expressions = readShapes('class type alias query_location', {
  BETWEEN: 'input lower upper',
  CASE: 'case_checks:check else_expr',
  CAST: 'child cast_type:type try_cast',
  COLLATE: 'child collation',
  COLUMN_REF: 'column_names',
  COMPARISON: `type=${comparisons}|COMPARE_DISTINCT_FROM|COMPARE_NOT_DISTINCT_FROM left right`,
  CONJUNCTION: 'type=CONJUNCTION_AND|CONJUNCTION_OR children',
  CONSTANT: 'value:literal',
  FUNCTION: 'function_name schema catalog children filter order_bys distinct is_operator',
  LAMBDA: 'lhs expr',
  OPERATOR: `type=OPERATOR_NOT|OPERATOR_IS_NULL|OPERATOR_IS_NOT_NULL|OPERATOR_COALESCE|OPERATOR_NULLIF|OPERATOR_TRY|OPERATOR_UNPACK|COMPARE_IN|COMPARE_NOT_IN|ARRAY_CONSTRUCTOR|ARRAY_EXTRACT|ARRAY_SLICE|STRUCT_EXTRACT|GROUPING_FUNCTION
    children`,
  PARAMETER: 'identifier',
  POSITIONAL_REFERENCE: 'index',
  STAR: 'relation_name exclude_list replace_list:entry columns expr qualified_exclude_list:column rename_list:renaming',
  SUBQUERY: `subquery_type=ANY|EXISTS|NOT_EXISTS|SCALAR subquery:query child comparison_type=INVALID|${comparisons}`,
  WINDOW: `function_name schema catalog children partitions orders start=${frame} end=${frame} start_expr end_expr offset_expr default_expr
    ignore_nulls filter_expr exclude_clause=NO_OTHER|CURRENT_ROW|GROUP|TIES distinct arg_orders`,
});

const table = 'alias query_location';
const query = 'modifiers cte_map:ctes';
const type = 'alias';

/** Other nodes, by type. */
const nodes = readShapes('type', {
  SELECT_NODE: `${query} select_list from_table where_clause group_expressions group_sets having qualify
    aggregate_handling=STANDARD_HANDLING|FORCE_AGGREGATES`,
  SET_OPERATION_NODE: `${query} setop_type=UNION|EXCEPT|INTERSECT|UNION_BY_NAME left right setop_all`,
  RECURSIVE_CTE_NODE: `${query} cte_name union_all left right aliases key_targets`,
  BASE_TABLE: `${table} schema_name table_name column_name_alias catalog_name`,
  EMPTY: table,
  EXPRESSION_LIST: `${table} values`,
  JOIN: `${table} left right condition join_type=INNER|LEFT|RIGHT|OUTER|SEMI|ANTI ref_type=REGULAR|NATURAL|CROSS|ASOF using_columns`,
  SUBQUERY: `${table} subquery:query column_name_alias`,
  TABLE_FUNCTION: `${table} function column_name_alias with_ordinality=WITH_ORDINALITY|WITHOUT_ORDINALITY`,
  LIMIT_MODIFIER: 'limit offset',
  LIMIT_PERCENT_MODIFIER: 'limit offset',
  ORDER_MODIFIER: 'orders',
  DISTINCT_MODIFIER: 'distinct_on_targets',
  ASCENDING: 'null_order expression',
  DESCENDING: 'null_order expression',
  ORDER_DEFAULT: 'null_order expression',
  ANY_TYPE_INFO: `${type} target_type:type`,
  ARRAY_TYPE_INFO: `${type} child_type:type size`,
  DECIMAL_TYPE_INFO: `${type} width scale`,
  GENERIC_TYPE_INFO: type,
  LIST_TYPE_INFO: `${type} child_type:type`,
  STRING_TYPE_INFO: `${type} collation`,
  STRUCT_TYPE_INFO: `${type} child_types:member`,
  UNBOUND_TYPE_INFO: `${type} name catalog schema user_type_modifiers:literal`,
});

/** Objects without a class and a type. A tree begins with a `tree`. */
const parts = readShapes('', {
  tree: 'error statements:query',
  query: 'node named_param_map:entry',
  ctes: 'map:cte',
  cte: 'key value:definition',
  definition: 'aliases query:query materialized key_targets',
  check: 'when_expr then_expr',
  type: 'id type_info',
  member: 'first second:type',
  literal: 'type:type is_null value:data',
  entry: 'key value',
  column: 'catalog schema table column',
  renaming: 'key:column value',
});

function readShapes(common: string, shapes: Record<string, string>): Shapes {
  const read = (text: string): Shape =>
    new Map(
      text
        .split(/\s+/)
        .filter(Boolean)
        .map((field) => {
          const [, name, mark, rest] = /^(\w+)(?:([=:])(.+))?$/.exec(field)!;
          return [name!, mark === '=' ? { values: new Set(rest!.split('|')) } : mark === ':' ? { part: rest! } : {}];
        }),
    );
  return new Map(Object.entries(shapes).map(([kind, fields]) => [kind, read(`${common} ${fields}`)]));
}

const statementNames: Record<string, string> = {
  SHOW_REF: 'DESCRIBE, SHOW and SUMMARIZE',
  PIVOT: 'PIVOT and UNPIVOT',
  COLUMN_DATA: 'Materialized tables',
};

const fieldNames: Record<string, string> = {
  sample: 'TABLESAMPLE and USING SAMPLE are not allowed in a query, because it must return the same rows every time.',
  at_clause: 'AT is not allowed in a query.',
  export_state: 'EXPORT_STATE is not allowed in a query.',
};

const valueNames: Record<string, string> = {
  POSITIONAL: 'POSITIONAL JOIN is not allowed in a query, because the rows of a dataset have no fixed order.',
};

/**
 * Checks that a parse tree from `json_serialize_sql` consists of known nodes, and that every field of a node is known or has its default.
 * Throws `query_not_allowed`, so that syntax that nothing here understands cannot change the rows of a query.
 */
export function checkShapes(tree: unknown): void {
  checkValue(tree, 'tree');
}

/** `part` is the kind of an object without a class and a type. */
function checkValue(value: unknown, part: string | undefined): void {
  if (Array.isArray(value)) for (const entry of value) checkValue(entry, part);
  else if (value !== null && typeof value === 'object') checkNode(value as TreeNode, part);
}

function checkNode(node: TreeNode, part: string | undefined): void {
  if (part === 'data') return;
  const { kind, shape } = findShape(node, part);
  for (const [name, value] of Object.entries(node)) {
    const field = shape.get(name);
    if (!field && !isDefault(value))
      throw queryNotAllowed(fieldNames[name] ?? `The part ${name} of ${kind} is not allowed in a query.`);
    if (field?.values && !field.values.has(String(value)))
      throw queryNotAllowed(
        valueNames[String(value)] ?? `${kind} with ${name} ${String(value)} is not allowed in a query.`,
      );
    if (field && typeof value === 'object') checkValue(value, field.part);
  }
}

function findShape(node: TreeNode, part: string | undefined): { kind: string; shape: Shape } {
  const { class: expression, type: kind } = node;
  if (typeof expression === 'string') {
    const shape = expressions.get(expression);
    if (!shape) throw queryNotAllowed(`Expressions of class ${expression} are not allowed in a query.`);
    return { kind: expression, shape };
  }
  if (typeof kind === 'string') {
    const shape = nodes.get(kind);
    if (!shape) throw queryNotAllowed(`${statementNames[kind] ?? `Nodes of type ${kind}`} are not allowed in a query.`);
    return { kind, shape };
  }
  const shape = part === undefined ? undefined : parts.get(part);
  if (!shape) throw queryNotAllowed(`A node with ${Object.keys(node).join(', ')} is not allowed in a query.`);
  return { kind: part!, shape };
}

/** Returns whether a field has the value that the parser gives it where the query does not mention it. */
function isDefault(value: unknown): boolean {
  if (value === null || value === false || value === 0 || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** The largest length that a query may write as a number. A length that comes from data is bounded by the engine's memory limits. */
const lengthMax = 1_000_000;
const arrayElementsMax = 4096;

/** Functions whose result is as large as one of their arguments says, by the index of that argument. */
const lengthArguments: ReadonlyMap<string, number> = new Map([
  ['list_resize', 1],
  ['array_resize', 1],
  ['repeat', 1],
  ['lpad', 1],
  ['rpad', 1],
]);

/** The engine allocates these results in one step, without checking its memory limit. */
const literalOnly: ReadonlySet<string> = new Set(['list_resize', 'array_resize']);

/** Throws if a call would allocate by an argument: a length above the limit, or a width in a format text. `children` are the arguments. */
export function checkArguments(name: string, children: readonly unknown[]): void {
  const index = lengthArguments.get(name);
  if (index !== undefined) checkLength(name, children[index]);
  if (name === 'range' || name === 'generate_series') checkSeries(name, children);
  if (name === 'printf' || name === 'format') checkFormat(name, children[0]);
}

function checkLength(name: string, argument: unknown): void {
  const literal = readLiteral(argument);
  if (literal === undefined && literalOnly.has(name))
    throw queryNotAllowed(`The length in ${name} must be written as a number of at most ${lengthMax}.`);
  if (literal !== undefined && !(typeof literal === 'number' && literal <= lengthMax))
    throw queryNotAllowed(`The length in ${name} must be a number of at most ${lengthMax}.`);
}

function checkSeries(name: string, children: readonly unknown[]): void {
  const numbers = children.map(readLiteral);
  if (!numbers.every((number) => typeof number === 'number')) return;
  const [start, stop, step] = numbers.length === 1 ? [0, numbers[0]!, 1] : [numbers[0]!, numbers[1]!, numbers[2] ?? 1];
  if (Math.abs((stop - start) / step) > lengthMax)
    throw queryNotAllowed(
      `A list from ${name} may have at most ${lengthMax} elements. Use ${name} as a table for more.`,
    );
}

/** A width or precision that is long, or that comes from another argument, would allocate as much as it says. */
function checkFormat(name: string, argument: unknown): void {
  const text = readLiteral(argument);
  if (typeof text !== 'string') throw queryNotAllowed(`The first argument of ${name} must be a text in quotes.`);
  const isLong =
    name === 'printf'
      ? /%[^a-z%]*(?:\*|\d{4})/i.test(text.replaceAll('%%', ''))
      : /\{[^}]*(?:\{|\d{4})/.test(text.replaceAll('{{', ''));
  if (isLong) throw queryNotAllowed(`A width or precision in ${name} must be a number below 1000.`);
}

/** Returns the value of a literal: a number or a text, null for a value of another type, and undefined for anything but a literal. */
function readLiteral(argument: unknown): number | string | null | undefined {
  if ((argument as TreeNode | undefined)?.['class'] !== 'CONSTANT') return undefined;
  const { value, type } = (argument as TreeNode)['value'] as { value: unknown; type: { id: string } };
  if (type.id === 'VARCHAR') return String(value);
  return /^U?(?:TINY|SMALL|BIG)?INT(?:EGER)?$/.test(type.id) && typeof value === 'number' ? value : null;
}

/** Throws if arrays of fixed size have too many elements together. The engine allocates them for every row, even for null. */
export function checkArrayType(type: TreeNode): void {
  let elements = 1;
  for (let info: TreeNode | undefined = type; info?.['type'] === 'ARRAY_TYPE_INFO';) {
    elements *= Number(info['size']);
    info = (info['child_type'] as TreeNode)['type_info'] as TreeNode | undefined;
  }
  if (elements > arrayElementsMax)
    throw queryNotAllowed(
      `An array type may have at most ${arrayElementsMax} elements. Use a list, such as INTEGER[].`,
    );
}
