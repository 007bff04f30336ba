import { jsonPointer } from './sql/sql-text.ts';
import { constantText, functionName, operandsOf, walkTree, type TreeNode } from './parse-tree.ts';

/** A step of a JSON path: a key of an object, or the text of a step into a list (`[0]`). */
type Step = { key: string } | { list: string };
export type JsonPath = readonly Step[];

/**
 * Parses the second operand of a JSON function: a path (`$.a."b c"[0]`), a pointer (`/a/b`) or a single key. Returns undefined for paths with
 * wildcards or escapes, and for text that is no path.
 */
export function parseSteps(text: string): JsonPath | undefined {
  if (text.startsWith('/'))
    return text.includes('~')
      ? undefined
      : text
          .slice(1)
          .split('/')
          .map((key) => ({ key }));
  if (!text.startsWith('$')) return [{ key: text }];
  const steps: Step[] = [];
  const step = /\.(?:"([^"\\]+)"|([^."[*]+))|(\[[^\]*]+\])/y;
  step.lastIndex = 1;
  while (step.lastIndex < text.length) {
    const match = step.exec(text);
    if (!match) return undefined;
    const [, quoted, plain, list] = match;
    steps.push(list === undefined ? { key: quoted ?? plain! } : { list });
  }
  return steps;
}

/** Returns the text of a path, or undefined if a key cannot be written in it. */
export function writeSteps(steps: JsonPath): string | undefined {
  if (steps.every((step) => 'key' in step)) return jsonPointer(steps.map(({ key }) => key));
  const parts = steps.map((step) => ('list' in step ? step.list : `."${step.key}"`));
  return steps.some((step) => 'key' in step && /["\\]/.test(step.key)) ? undefined : `$${parts.join('')}`;
}

/** Returns the keys in a path. */
export const keysOf = (steps: JsonPath): string[] => steps.flatMap((step) => ('key' in step ? [step.key] : []));

/** The functions that read one path of a JSON value, with the one that reads several. */
const readers: Record<string, string> = {
  '->': 'json_extract',
  json_extract: 'json_extract',
  json_extract_path: 'json_extract',
  '->>': 'json_extract_string',
  json_extract_string: 'json_extract_string',
  json_extract_path_text: 'json_extract_string',
  json_value: 'json_value',
  json_exists: 'json_exists',
};

/** The names of the functions that read one path of a JSON value. */
export const jsonReaders: readonly string[] = Object.keys(readers);

/** Returns the paths that the JSON functions of a query read, without those that are computed. */
export function listJsonPaths(tree: unknown): string[] {
  const paths = new Set<string>();
  walkTree(tree, (node) => {
    const path = readerOf(node) && operandsOf(node)[1];
    for (const text of path ? (listConstantTexts(path) ?? [constantText(path)]) : [])
      if (text !== undefined) paths.add(text);
    return true;
  });
  return [...paths];
}

/** Returns the texts of a list of constants, or undefined for anything else. */
export function listConstantTexts(node: TreeNode): string[] | undefined {
  if (functionName(node) !== 'list_value') return undefined;
  const texts = operandsOf(node).map((one) => constantText(one));
  return texts.every((text) => text !== undefined) ? texts : undefined;
}

/** Returns the function with which a node reads paths of a JSON value. */
export function readerOf(node: TreeNode): string | undefined {
  const name = functionName(node) ?? '';
  return Object.hasOwn(readers, name) ? readers[name] : undefined;
}
