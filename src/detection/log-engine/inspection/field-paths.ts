import { listWindowsPaths, windowsContainers, windowsFields } from '../sql/windows-fields.ts';
import { keysOf, parseSteps } from '../json-paths.ts';
import { constantText, functionName, isNull, nodesOf, operandsOf, type TreeNode } from '../parse-tree.ts';
import type { FieldPath } from './event-filter.ts';

/** A name in a scope: an expression of an inner scope, or a column of a dataset. */
export type Resolved = { node: TreeNode; scope: Scope } | { column: string[] };

/** Returns what a column reference may stand for, or undefined if that is not known. */
export type Scope = (names: readonly string[]) => readonly Resolved[] | undefined;

/**
 * The places of an event one of which has the value of an expression. `isFolded`: in lower or upper case. `isPlainCommand`: the value of
 * `plain_command`, which has other words than the event only if that has a mark.
 */
export type FieldValue = { paths: readonly FieldPath[]; isFolded: boolean; isPlainCommand?: boolean };

const systemColumns = new Set(['_id', '_time', '_ingested', '_text', '_event']);
const folding = new Set(['lower', 'upper', 'lcase', 'ucase']);
const textReaders = new Set(['->>', 'json_extract_string', 'json_extract_path_text']);
const objectReaders = new Set(['->', 'json_extract', 'json_extract_path']);
const depthMax = 50;

/** Returns where the text of an expression comes from, or undefined if it is computed or may be a constant. */
export function readFieldValue(node: TreeNode, scope: Scope, depth = 0): FieldValue | undefined {
  if (depth > depthMax) return undefined;
  const read = (one: TreeNode, inner = scope): FieldValue | undefined => readFieldValue(one, inner, depth + 1);
  const name = functionName(node);
  const operands = operandsOf(node);
  if (node['class'] === 'COLUMN_REF') return readColumn(node, scope, read);
  if (node['class'] === 'CAST') return isText(node['cast_type']) ? read(node['child'] as TreeNode) : undefined;
  // No test is true of an empty text.
  if (node['type'] === 'OPERATOR_COALESCE')
    return unite(operands.filter((one) => constantText(one) !== '' && !isNull(one)).map((one) => read(one)));
  if (node['class'] === 'CASE') return unite(listResults(node).map((one) => read(one)));
  if (name === undefined) return undefined;
  if (folding.has(name)) {
    const value = read(operands[0]!);
    return value && { ...value, isFolded: true };
  }
  if (name === 'plain_command') {
    const value = read(operands[0]!);
    return value && { ...value, isPlainCommand: true };
  }
  if (name === 'nullif') return read(operands[0]!);
  const key = constantText(operands[1]);
  if (key === undefined) return undefined;
  if (name === 'winlog' && isWholeEvent(operands[0]!, scope, depth))
    return { paths: windowsPaths(key), isFolded: false };
  const keys = textReaders.has(name) ? parseJsonPath(key) : undefined;
  return keys && toValue(readObject(operands[0]!, scope, depth + 1)?.map((parent) => [...parent, ...keys]));
}

function readColumn(
  node: TreeNode,
  scope: Scope,
  read: (one: TreeNode, inner: Scope) => FieldValue | undefined,
): FieldValue | undefined {
  const resolved = scope(node['column_names'] as string[]);
  return resolved && unite(resolved.map((one) => ('node' in one ? read(one.node, one.scope) : readStored(one.column))));
}

function readStored(keys: string[]): FieldValue | undefined {
  if (keys.length !== 1 || systemColumns.has(keys[0]!.toLowerCase())) return undefined;
  return { paths: [{ keys, isExact: false }], isFolded: false };
}

const toValue = (paths: readonly string[][] | undefined): FieldValue | undefined =>
  paths && { paths: paths.map((keys) => ({ keys, isExact: true })), isFolded: false };

/** Returns the keys of the objects that an expression may stand for. Those of the whole event are empty. */
function readObject(node: TreeNode, scope: Scope, depth: number): string[][] | undefined {
  if (depth > depthMax) return undefined;
  const read = (one: TreeNode, inner = scope): string[][] | undefined => readObject(one, inner, depth + 1);
  const operands = operandsOf(node);
  if (node['class'] === 'COLUMN_REF')
    return scope(node['column_names'] as string[])
      ?.map((one) => {
        if ('node' in one) return read(one.node, one.scope);
        return one.column.length === 1 && one.column[0]!.toLowerCase() === '_event' ? [[]] : undefined;
      })
      .reduce(concat);
  if (node['type'] === 'OPERATOR_COALESCE') return operands.map((one) => read(one)).reduce(concat);
  if (node['class'] === 'CASE')
    return listResults(node)
      .map((one) => read(one))
      .reduce(concat);
  const name = functionName(node);
  const key = constantText(operands[1]);
  if (name === undefined || key === undefined || !objectReaders.has(name)) return undefined;
  const keys = parseJsonPath(key);
  return keys && read(operands[0]!)?.map((parent) => [...parent, ...keys]);
}

const concat = <T>(a: T[] | undefined, b: T[] | undefined): T[] | undefined => a && b && [...a, ...b];

const isWholeEvent = (node: TreeNode, scope: Scope, depth: number): boolean =>
  readObject(node, scope, depth)?.every((keys) => keys.length === 0) ?? false;

function windowsPaths(field: string): FieldPath[] {
  const paths =
    field in windowsFields ? listWindowsPaths(field) : windowsContainers.map((container) => container + field);
  return paths.map((path) => ({ keys: path.split('.'), isExact: true }));
}

function unite(values: readonly (FieldValue | undefined)[]): FieldValue | undefined {
  const known = values.filter((value) => value !== undefined);
  if (known.length === 0 || known.length < values.length) return undefined;
  return {
    paths: known.flatMap(({ paths }) => paths),
    isFolded: known.some(({ isFolded }) => isFolded),
    isPlainCommand: known.some(({ isPlainCommand }) => isPlainCommand),
  };
}

/** Returns the possible results of a CASE, but not NULL. */
function listResults(node: TreeNode): TreeNode[] {
  const otherwise = node['else_expr'] as TreeNode;
  const results = nodesOf(node['case_checks']).map((check) => check['then_expr'] as TreeNode);
  return isNull(otherwise) ? results : [...results, otherwise];
}

const isText = (type: unknown): boolean => (type as TreeNode)['id'] === 'VARCHAR';

/** Returns the keys of a JSON path or pointer. Undefined for lists and wildcards. */
export function parseJsonPath(path: string): string[] | undefined {
  const steps = parseSteps(path);
  return steps?.every((step) => 'key' in step) ? keysOf(steps) : undefined;
}
