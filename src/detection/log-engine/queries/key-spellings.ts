import type { CatalogField, FieldsByDataset } from '../../log-store/catalog/catalog.ts';
import { keysOf, listConstantTexts, parseSteps, readerOf, writeSteps, type JsonPath } from '../json-paths.ts';
import { constantText, isLambda, isNode, operandsOf, type TreeNode } from '../parse-tree.ts';

/**
 * How the events of a query's datasets spell the keys in its JSON paths, by the key in lower case. Has only keys with a spelling that differs
 * from the query's. `any`: there are more spellings than `known` lists.
 */
export type KeySpellings = Record<string, { known: string[]; any: boolean }>;

/** Returns the spellings that the JSON paths of a query lack, or undefined if they lack none. */
export function findKeySpellings(paths: readonly string[], fields: FieldsByDataset): KeySpellings | undefined {
  const asked = new Set(paths.flatMap((path) => keysOf(parseSteps(path) ?? [])));
  if (asked.size === 0) return undefined;
  const found = new Map<string, { known: Set<string>; any: boolean }>(
    [...asked].map((key) => [key.toLowerCase(), { known: new Set(), any: false }]),
  );
  for (const list of fields.values()) addSpellings(list, found);
  const lacking = [...found].filter(
    ([name, { known, any }]) => any || [...asked].some((key) => key.toLowerCase() === name && hasOther(known, key)),
  );
  if (lacking.length === 0) return undefined;
  return Object.fromEntries(lacking.map(([name, { known, any }]) => [name, { known: [...known], any }]));
}

const hasOther = (known: ReadonlySet<string>, key: string): boolean => [...known].some((spelling) => spelling !== key);

function addSpellings(fields: CatalogField[], found: Map<string, { known: Set<string>; any: boolean }>): void {
  for (const { name, keys, anySpelling, nested } of fields) {
    const entry = found.get(name.toLowerCase());
    if (entry) {
      for (const key of keys) entry.known.add(key);
      if (anySpelling) entry.any = true;
    }
    addSpellings(nested, found);
  }
}

const pathsMax = 32;

/**
 * Returns the parse tree of a query whose JSON paths match keys in any of their spellings. The query's own spelling is preferred. A path whose
 * keys have no other spelling stays as it is.
 */
export function matchSpellings(tree: unknown, spellings: KeySpellings): unknown {
  if (Array.isArray(tree)) return tree.map((entry) => matchSpellings(entry, spellings));
  if (!isNode(tree)) return tree;
  const node = Object.fromEntries(
    Object.entries(tree).map(([key, child]) => [key, matchOperands(tree, child, spellings)]),
  );
  return readInAnySpelling(node, spellings) ?? node;
}

/** The body of a lambda is an operand like any other, but the lambda is no JSON path. */
function matchOperands(parent: TreeNode, child: unknown, spellings: KeySpellings): unknown {
  if (Array.isArray(child)) return child.map((one) => matchOperands(parent, one, spellings));
  return isNode(child) && isLambda(child, parent)
    ? { ...child, expr: matchSpellings(child['expr'], spellings) }
    : matchSpellings(child, spellings);
}

function readInAnySpelling(node: TreeNode, spellings: KeySpellings): TreeNode | undefined {
  const reader = readerOf(node);
  const [json, constant] = operandsOf(node);
  const list = reader && json && constant && listConstantTexts(constant);
  if (list) {
    const reads = list.map((path) => call(reader, [json, constantOf(path)]));
    const others = reads.map((read) => readInAnySpelling(read, spellings));
    if (others.every((other) => other === undefined)) return undefined;
    return {
      ...call(
        'list_value',
        reads.map((read, index) => others[index] ?? read),
      ),
      alias: node['alias'] ?? '',
    };
  }
  const text = constantText(constant);
  const steps = text === undefined ? undefined : parseSteps(text);
  const entries = steps?.flatMap((step) => ('key' in step ? (find(spellings, step.key) ?? []) : [])) ?? [];
  if (!reader || !json || text === undefined || !steps || entries.length === 0) return undefined;
  const isMany = entries.some(({ any }) => any) || countPaths(steps, spellings) > pathsMax;
  const read =
    isMany && steps.every((step) => 'key' in step)
      ? readEachKey(reader, json, keysOf(steps))
      : readPaths(reader, json, listPaths(text, steps, spellings));
  return { ...read, alias: node['alias'] ?? '' };
}

const find = (spellings: KeySpellings, key: string): KeySpellings[string] | undefined =>
  Object.hasOwn(spellings, key.toLowerCase()) ? spellings[key.toLowerCase()] : undefined;

const spell = (key: string, spellings: KeySpellings): string[] => [
  ...new Set([key, ...(find(spellings, key)?.known ?? [])]),
];

const countPaths = (steps: JsonPath, spellings: KeySpellings): number =>
  steps.reduce((product, step) => product * ('key' in step ? spell(step.key, spellings).length : 1), 1);

/** Returns the path as written and its other spellings, at most `pathsMax`. */
function listPaths(text: string, steps: JsonPath, spellings: KeySpellings): string[] {
  let all: JsonPath[] = [[]];
  for (const step of steps) {
    const next = 'key' in step ? spell(step.key, spellings).map((key) => ({ key })) : [step];
    all = all.flatMap((before) => next.map((one) => [...before, one])).slice(0, pathsMax);
  }
  return [
    text,
    ...all
      .slice(1)
      .map(writeSteps)
      .filter((path) => path !== undefined),
  ];
}

function readPaths(reader: string, json: TreeNode, paths: string[]): TreeNode {
  const values = call(reader, [json, call('list_value', paths.map(constantOf))]);
  return reader === 'json_exists' ? call('list_bool_or', [values]) : call('list_any_value', [values]);
}

/** Reads one key after the other, each in whatever spelling the object has. */
function readEachKey(reader: string, json: TreeNode, keys: readonly string[]): TreeNode {
  const value = keys.reduce((object, key) => call('any_case_key', [object, constantOf(key)]), json);
  if (reader === 'json_extract') return value;
  return call(reader, [value, constantOf('$')]);
}

const constantOf = (value: string): TreeNode => ({
  class: 'CONSTANT',
  type: 'VALUE_CONSTANT',
  alias: '',
  query_location: 0,
  value: { type: { id: 'VARCHAR', type_info: null }, is_null: false, value },
});

const call = (name: string, children: TreeNode[]): TreeNode => ({
  class: 'FUNCTION',
  type: 'FUNCTION',
  alias: '',
  query_location: 0,
  function_name: name,
  schema: '',
  children,
  filter: null,
  order_bys: { type: 'ORDER_MODIFIER', orders: [] },
  distinct: false,
  is_operator: false,
  export_state: false,
  catalog: '',
});
