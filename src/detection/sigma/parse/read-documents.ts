import { isMap, isScalar, LineCounter, parseAllDocuments, type Document } from 'yaml';
import { fieldError } from '../../../platform/lib/errors.ts';
import type { RuleError } from '../model/rule.ts';

/** One YAML document as plain values. `lineOf` returns the line of a path, or of its closest parent. `text` is its YAML. */
export type SourceDocument = {
  value: unknown;
  line: number;
  text: string;
  errors: RuleError[];
  lineOf: (path: readonly (string | number)[]) => number;
};

const documentsMax = 20_000;

function rejectManyDocuments(text: string): void {
  let documents = 1;
  for (const _separator of text.matchAll(/^---/gm)) {
    documents += 1;
    if (documents > documentsMax)
      throw fieldError('/rules', 'too_many', `The text has more than ${documentsMax} documents. Send fewer at a time.`);
  }
}

/** Reads the YAML documents of a text, at most 20,000. Empty ones are dropped. A document with syntax errors has them instead of a value. */
export function readDocuments(text: string): SourceDocument[] {
  rejectManyDocuments(text);
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: true,
    intAsBigInt: true,
  });
  if (!Array.isArray(documents)) return [];
  return documents
    .filter(({ contents, errors }) => errors.length > 0 || (contents !== null && !isEmptyScalar(contents)))
    .map((document) => toSource(document, text, lines));
}

const isEmptyScalar = (node: unknown): boolean => isScalar(node) && node.value === null;

function toSource(document: Document.Parsed, text: string, lines: LineCounter): SourceDocument {
  const [from, , to] = document.contents?.range ?? document.range;
  const problems = [...document.errors, ...document.warnings];
  let value: unknown;
  const errors = problems.map(({ pos, message }) => ({ line: lines.linePos(pos[0]).line, message }));
  try {
    if (errors.length === 0) value = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    errors.push({ line: lines.linePos(from).line, message: (error as Error).message });
  }
  return {
    value,
    line: lines.linePos(from).line,
    text: `${text.slice(from, to).trimEnd()}\n`,
    errors,
    lineOf: (path) => lines.linePos(findOffset(document, path) ?? from).line,
  };
}

function findOffset(document: Document.Parsed, path: readonly (string | number)[]): number | undefined {
  for (let depth = path.length; depth > 0; depth--) {
    const parent = document.getIn(path.slice(0, depth - 1), true);
    const key = path[depth - 1]!;
    const pair = isMap(parent)
      ? parent.items.find((item) => isScalar(item.key) && String(item.key.value) === key)
      : undefined;
    const node = pair?.key ?? document.getIn(path.slice(0, depth), true);
    const offset = (node as { range?: [number, number, number] | null } | undefined)?.range?.[0];
    if (offset !== undefined) return offset;
  }
  return undefined;
}
