import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { Document, isMap, isScalar, isSeq, LineCounter, parseDocument, Scalar, visit, type YAMLMap } from 'yaml';
import {
  InvalidFieldsError,
  DetectionFileError,
  fieldNames,
  libraryKey,
  parseFields,
  type FieldProblem,
  type FileOptions,
  type FileFields,
} from '../managed/file-fields.ts';

/** A parsed detection file. `promptFile` is the `.md` file beside it that contains the prompt. `toError` turns problems into an error with file and line numbers. */
export type DetectionFile = {
  name: string;
  text: string;
  fields: FileFields;
  promptFile: string | undefined;
  /** The `library` block of a shipped detection, which is not a field of the detection. */
  library: unknown;
  toError: (problems: FieldProblem[]) => DetectionFileError;
};

const bytesMax = 1024 * 1024;
const promptKey = 'systemPromptFile';

/** Reads one detection file. Throws a DetectionFileError with a line for each problem: file, line number, field. */
export function readDetectionFile(folder: string, name: string, options?: FileOptions): DetectionFile {
  const lines = new LineCounter();
  let document: Document | undefined;
  const toError = (problems: FieldProblem[], cause?: unknown): DetectionFileError => {
    const descriptions = problems.map(({ path, message }) => {
      const line = document && findLine(document, lines, path);
      return [`${name}${line === undefined ? '' : `:${line}`}`, path.map(String).join('.'), message];
    });
    return new DetectionFileError(
      descriptions.map((parts) => parts.filter((part) => part !== '').join(': ')).join('\n'),
      { cause },
    );
  };
  try {
    const text = readText(folder, name);
    document = parseDocument(text, { uniqueKeys: true, lineCounter: lines, prettyErrors: false });
    const [problem] = [...document.errors, ...document.warnings];
    if (problem) throw new DetectionFileError(`${name}:${lines.linePos(problem.pos[0]).line}: ${problem.message}`);
    const raw = document.toJS({ maxAliasCount: 20 }) as unknown;
    const promptFile = findPromptFile(raw);
    const fields = parseFields(withPrompt(raw, folder, promptFile), options);
    return { name, text, fields, promptFile, library: (raw as FileFields)[libraryKey], toError };
  } catch (error) {
    if (error instanceof DetectionFileError) throw error;
    throw toError(
      error instanceof InvalidFieldsError ? error.problems : [{ path: [], message: messageOf(error) }],
      error,
    );
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Returns the line number of a field, or of the closest parent that is in the document. */
function findLine(document: Document, lines: LineCounter, path: readonly PropertyKey[]): number | undefined {
  for (let depth = path.length; depth > 0; depth -= 1) {
    const parent = document.getIn(path.slice(0, depth - 1), true);
    const key = path[depth - 1];
    const pair = isMap(parent) ? findPair(parent, key) : undefined;
    const node = pair?.key ?? document.getIn(path.slice(0, depth), true);
    const offset = (node as { range?: [number, number, number] | null } | undefined)?.range?.[0];
    if (offset !== undefined) return lines.linePos(offset).line;
  }
  return undefined;
}

const findPair = (map: YAMLMap, key: PropertyKey | undefined) =>
  map.items.find((pair) => isScalar(pair.key) && pair.key.value === key);

function findPromptFile(raw: unknown): string | undefined {
  if (raw === null || typeof raw !== 'object' || !(promptKey in raw)) return undefined;
  const name = raw[promptKey];
  // A folder may come from an untrusted pull request, so no file outside of it is read.
  if (typeof name !== 'string' || !/^[^/\\\0]+\.md$/.test(name) || basename(name) !== name)
    throw new InvalidFieldsError([
      { path: [promptKey], message: 'must be the name of an .md file in the same folder' },
    ]);
  if ('systemPrompt' in raw)
    throw new InvalidFieldsError([
      { path: [promptKey], message: 'cannot be combined with systemPrompt. Specify one of them.' },
    ]);
  return name;
}

function withPrompt(raw: unknown, folder: string, promptFile: string | undefined): unknown {
  if (promptFile === undefined) return raw;
  const { [promptKey]: _, ...rest } = raw as Record<string, unknown>;
  try {
    return { ...rest, systemPrompt: readText(folder, promptFile).replace(/\n$/, '') };
  } catch (error) {
    throw new InvalidFieldsError([{ path: [promptKey], message: messageOf(error) }]);
  }
}

function readText(folder: string, name: string): string {
  const path = join(folder, name);
  if (!statSync(path, { throwIfNoEntry: false })) throw new Error(`${name} does not exist`);
  // A link must not lead out of the folder, and reading a device or pipe might never end.
  if (!realpathSync(path).startsWith(realpathSync(folder) + sep) || !statSync(path).isFile())
    throw new Error(`${name} is not a file in this folder`);
  const bytes = readFileSync(path);
  if (bytes.length > bytesMax) throw new Error(`${name} is larger than ${bytesMax} bytes`);
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

/**
 * Returns the text of a detection file with these fields. Comments and field order of the old text are kept. `prompt` is the
 * text of the `.md` file, if the detection has one.
 */
export function writeDetectionFile(
  fields: FileFields,
  old?: Pick<DetectionFile, 'text' | 'promptFile'>,
): { text: string; prompt: string | undefined } {
  const document = old ? parseDocument(old.text) : new Document({});
  const { systemPrompt, ...rest } = fields;
  const content: FileFields = old?.promptFile === undefined ? fields : { ...rest, [promptKey]: old.promptFile };
  if (!isMap(document.contents)) document.contents = document.createNode({}) as never;
  for (const name of [...fieldNames, promptKey]) {
    if (content[name] === undefined) document.delete(name);
    else if (JSON.stringify(valueAt(document, name)) !== JSON.stringify(content[name]))
      document.set(name, nodeOf(document, name, content[name]));
  }
  return {
    text: document.toString({ lineWidth: 0, blockQuote: 'literal' }),
    prompt: old?.promptFile === undefined ? undefined : `${String(systemPrompt)}\n`,
  };
}

function valueAt(document: Document, name: string): unknown {
  const node = document.get(name);
  return node !== null && typeof node === 'object' && 'toJS' in node
    ? (node as { toJS: (document: Document) => unknown }).toJS(document)
    : node;
}

function nodeOf(document: Document, name: string, value: unknown): unknown {
  if (name === 'tests') return testsNode(document, value);
  if (typeof value !== 'string' || !value.includes('\n')) return document.createNode(value);
  const scalar = new Scalar(value);
  scalar.type = Scalar.BLOCK_LITERAL;
  return scalar;
}

/** Formats test cases with one event per line. */
function testsNode(document: Document, value: unknown): unknown {
  const node = document.createNode(value, { aliasDuplicateObjects: false });
  visit(node, {
    Map: (_key, map, path) => {
      // Mappings inside a list below a test case are its events.
      if (path.length > 1 && isSeq(path.at(-1))) map.flow = true;
    },
    Scalar: (_key, scalar) => {
      if (typeof scalar.value === 'string' && /\s/.test(scalar.value.replaceAll(' ', '')))
        scalar.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return node;
}
