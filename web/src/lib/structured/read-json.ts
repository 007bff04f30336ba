import { getNodePath, parseTree, type Node, type ParseError } from 'jsonc-parser';
import type { Field } from './fields.ts';

/**
 * Reads a text that is one JSON document. Returns the fields of each object of a list or of a STIX bundle, otherwise of the document, or
 * null if the text is not JSON, is cut or is nested too deep.
 */
export function readJson(text: string): Field[][] | null {
  const root = parse(text);
  if (root?.type !== 'object' && root?.type !== 'array') return null;
  return splitRecords(root).map((record) => {
    const depth = getNodePath(record).length;
    return listScalars(record).flatMap((node) => toField(text, node, depth));
  });
}

function parse(text: string): Node | undefined {
  const errors: ParseError[] = [];
  try {
    const root = parseTree(text, errors, { disallowComments: true });
    return errors.length === 0 ? root : undefined;
  } catch (error) {
    // The parser is recursive.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function splitRecords(root: Node): Node[] {
  const objects = root.children?.find(({ children }) => children?.[0]?.value === 'objects')?.children?.[1];
  const list = root.type === 'array' ? root : objects?.type === 'array' ? objects : undefined;
  const records = list?.children ?? [];
  return records.length > 0 && records.every(({ type }) => type === 'object') ? records : [root];
}

const listScalars = (node: Node): Node[] =>
  node.type === 'object' || node.type === 'array'
    ? (node.children ?? []).flatMap((child) =>
        child.type === 'property' ? listScalars(child.children![1]!) : listScalars(child),
      )
    : [node];

function toField(text: string, node: Node, depth: number): Field[] {
  const path = getNodePath(node).slice(depth);
  const [start, end] = [node.offset, node.offset + node.length];
  if (node.type === 'null' || node.value === '') return [];
  if (node.type !== 'string') return [{ path, value: text.slice(start, end), start, end }];
  const raw = text.slice(start + 1, end - 1);
  const field = { path, value: String(node.value), start: start + 1, end: end - 1 };
  return [raw.includes('\\') ? { ...field, offsets: locateUnits(raw, start + 1) } : field];
}

/** Returns where each UTF-16 unit of a string's value starts. `raw` is the string as it is written, `start` its place. */
const locateUnits = (raw: string, start: number): number[] =>
  [...raw.matchAll(/\\u[\da-f]{4}|\\.|[^]/gi)].map(({ index }) => start + index);
