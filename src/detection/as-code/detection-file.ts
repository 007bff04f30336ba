import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { Document, isMap, isScalar, isSeq, LineCounter, parseDocument, Scalar, visit, type YAMLMap } from 'yaml';
import { BadFields, BadFile, fieldNames, readFields, type FieldProblem, type Fields } from './detection-fields-file.ts';

/** A file of a folder as it was read. `promptFile`: the `.md` beside it that holds the prompt. `refuse` words a problem with it. */
export type DetectionFile = {
  name: string;
  text: string;
  fields: Fields;
  promptFile: string | undefined;
  refuse: (problems: FieldProblem[]) => BadFile;
};

const bytesMax = 1024 * 1024;
const promptKey = 'systemPromptFile';

/** Reads one detection. Throws a BadFile with a line for each problem: file, line of the file, field. */
export function readDetectionFile(folder: string, name: string): DetectionFile {
  const lines = new LineCounter();
  let document: Document | undefined;
  const refuse = (problems: FieldProblem[], cause?: unknown): BadFile => {
    const told = problems.map(({ path, message }) => {
      const line = document && lineOf(document, lines, path);
      return [`${name}${line === undefined ? '' : `:${line}`}`, path.map(String).join('.'), message];
    });
    return new BadFile(told.map((parts) => parts.filter((part) => part !== '').join(': ')).join('\n'), { cause });
  };
  try {
    const text = readText(folder, name);
    document = parseDocument(text, { uniqueKeys: true, lineCounter: lines, prettyErrors: false });
    const [problem] = [...document.errors, ...document.warnings];
    if (problem) throw new BadFile(`${name}:${lines.linePos(problem.pos[0]).line}: ${problem.message}`);
    const raw = document.toJS({ maxAliasCount: 20 }) as unknown;
    const promptFile = promptFileOf(raw);
    return { name, text, fields: readFields(withPrompt(raw, folder, promptFile)), promptFile, refuse };
  } catch (error) {
    if (error instanceof BadFile) throw error;
    throw refuse(error instanceof BadFields ? error.problems : [{ path: [], message: messageOf(error) }], error);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Where a field stands, or the nearest thing around it that does. */
function lineOf(document: Document, lines: LineCounter, path: readonly PropertyKey[]): number | undefined {
  for (let depth = path.length; depth > 0; depth -= 1) {
    const parent = document.getIn(path.slice(0, depth - 1), true);
    const last = path[depth - 1];
    const pair = isMap(parent) ? pairOf(parent, last) : undefined;
    const node = pair?.key ?? document.getIn(path.slice(0, depth), true);
    const at = (node as { range?: [number, number, number] | null } | undefined)?.range?.[0];
    if (at !== undefined) return lines.linePos(at).line;
  }
  return undefined;
}

const pairOf = (map: YAMLMap, key: PropertyKey | undefined) =>
  map.items.find(({ key: own }) => isScalar(own) && own.value === key);

function promptFileOf(raw: unknown): string | undefined {
  if (raw === null || typeof raw !== 'object' || !(promptKey in raw)) return undefined;
  const name = raw[promptKey];
  // A folder may come from a stranger's pull request: nothing outside of it is read.
  if (typeof name !== 'string' || !/^[^/\\\0]+\.md$/.test(name) || basename(name) !== name)
    throw new BadFields([{ path: [promptKey], message: 'must be the name of an .md file in the same folder' }]);
  if ('systemPrompt' in raw)
    throw new BadFields([{ path: [promptKey], message: 'stands beside systemPrompt; give one of them' }]);
  return name;
}

function withPrompt(raw: unknown, folder: string, promptFile: string | undefined): unknown {
  if (promptFile === undefined) return raw;
  const { [promptKey]: _, ...rest } = raw as Record<string, unknown>;
  try {
    return { ...rest, systemPrompt: readText(folder, promptFile).replace(/\n$/, '') };
  } catch (error) {
    throw new BadFields([{ path: [promptKey], message: messageOf(error) }]);
  }
}

function readText(folder: string, name: string): string {
  const path = join(folder, name);
  if (!statSync(path, { throwIfNoEntry: false })) throw new Error(`${name} does not exist`);
  // A link must not lead out of the folder, and reading what is no file may never end.
  if (!realpathSync(path).startsWith(realpathSync(folder) + sep) || !statSync(path).isFile())
    throw new Error(`${name} is no file of this folder`);
  const bytes = readFileSync(path);
  if (bytes.length > bytesMax) throw new Error(`${name} is larger than ${bytesMax} bytes`);
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

/** The texts of a file that says `fields`; comments and order of the old one stay. `prompt` is that of the `.md`, if it has one. */
export function writeDetectionFile(
  fields: Fields,
  old?: Pick<DetectionFile, 'text' | 'promptFile'>,
): { text: string; prompt: string | undefined } {
  const document = old ? parseDocument(old.text) : new Document({});
  const { systemPrompt, ...rest } = fields;
  const own: Fields = old?.promptFile === undefined ? fields : { ...rest, [promptKey]: old.promptFile };
  if (!isMap(document.contents)) document.contents = document.createNode({}) as never;
  for (const name of [...fieldNames, promptKey]) {
    if (own[name] === undefined) document.delete(name);
    else if (JSON.stringify(valueAt(document, name)) !== JSON.stringify(own[name]))
      document.set(name, nodeOf(document, name, own[name]));
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

/** Test cases with an event a line, as logs have them. */
function testsNode(document: Document, value: unknown): unknown {
  const node = document.createNode(value, { aliasDuplicateObjects: false });
  visit(node, {
    Map: (_key, map, path) => {
      // The maps of a list below a test case are its events.
      if (path.length > 1 && isSeq(path.at(-1))) map.flow = true;
    },
    Scalar: (_key, scalar) => {
      if (typeof scalar.value === 'string' && /\s/.test(scalar.value.replaceAll(' ', '')))
        scalar.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return node;
}
