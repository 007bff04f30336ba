import { getNodePath, parseTree, type Node, type ParseError } from 'jsonc-parser';
import type { Field } from './fields.ts';

/** The fields of each object of a structured document, or null for prose. */
export type Records = Field[][] | null;

/** Reads the text of an item as a structured document, if it is one. */
export const readRecords = (text: string): Records => (/^\s*[[{]/.test(text) ? readJson(text) : readLines(text));

/**
 * Reads a text that is one JSON document. Returns the fields of each object of a list or of a STIX bundle, otherwise of the document, or
 * null if the text is not JSON, is cut or is nested too deep.
 */
function readJson(text: string): Field[][] | null {
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

/** `Attribute[0].value: x`. A name without a step after it starts in lower case, so that `Note: …` in a description is prose. */
const fieldLine = /^((?:[a-z_$@][\w$@-]*|[A-Z][\w$@-]*(?=[.[]))(?:\.[\w$@/-]+|\[\d+\])*): /;
const identities = new Set(['id', 'uuid', 'cveID']);

/**
 * Reads the text that is stored for a structured document: a field per line, `path: value`, and further lines of a value below it. A name
 * that appears again starts the next object. Returns the fields of each object, or null if the text has another form.
 */
function readLines(text: string): Field[][] | null {
  if (!fieldLine.test(text)) return null;
  const records: Field[][] = [];
  const known = new Set<string>();
  let start = 0;
  for (const line of text.split('\n')) {
    const path = fieldLine.exec(line)?.[1];
    if (path !== undefined) {
      if (known.has(path) || records.length === 0) {
        records.push([]);
        known.clear();
      }
      known.add(path);
      const from = start + path.length + 2;
      records
        .at(-1)!
        .push({ path: toPath(path), value: line.slice(path.length + 2), start: from, end: start + line.length });
    } else {
      const field = records.at(-1)!.at(-1)!;
      field.value += `\n${line}`;
      field.end = start + line.length;
    }
    start += line.length + 1;
  }
  const isRecord = records[0]!.some(({ path }) => path.length > 1 || identities.has(String(path[0])));
  return isRecord ? records.map((fields) => fields.filter(({ value }) => value.trim() !== '')) : null;
}

const toPath = (path: string): Field['path'] =>
  [...path.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([name, index]) => (index === undefined ? name : Number(index)));
