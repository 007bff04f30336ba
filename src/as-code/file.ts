import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Document, isMap, parseDocument, Scalar } from 'yaml';
import { BadFile, fieldNames, readFields, type Fields } from './fields.ts';

/** A file of a folder as it was read. `promptFile`: the `.md` beside it that holds the prompt. */
export type DetectionFile = { name: string; text: string; fields: Fields; promptFile: string | undefined };

const bytesMax = 1024 * 1024;
const promptKey = 'systemPromptFile';

/** Reads one detection. Throws a BadFile whose message begins with the file's name. */
export function readDetectionFile(folder: string, name: string): DetectionFile {
  try {
    const text = readText(join(folder, name));
    const document = parseDocument(text, { uniqueKeys: true });
    const [problem] = [...document.errors, ...document.warnings];
    if (problem) throw new BadFile(problem.message.split('\n')[0]!.replace(/:$/, ''));
    const raw = document.toJS({ maxAliasCount: 20 }) as unknown;
    const promptFile = promptFileOf(raw);
    return { name, text, fields: readFields(withPrompt(raw, folder, promptFile)), promptFile };
  } catch (error) {
    throw new BadFile(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

function promptFileOf(raw: unknown): string | undefined {
  if (raw === null || typeof raw !== 'object' || !(promptKey in raw)) return undefined;
  const name = raw[promptKey];
  // A folder may come from a stranger's pull request: nothing outside of it is read.
  if (typeof name !== 'string' || !/^[^/\\\0]+\.md$/.test(name) || basename(name) !== name)
    throw new BadFile(`${promptKey}: must be the name of an .md file in the same folder`);
  if ('systemPrompt' in raw) throw new BadFile(`${promptKey}: stands beside systemPrompt; give one of them`);
  return name;
}

function withPrompt(raw: unknown, folder: string, promptFile: string | undefined): unknown {
  if (promptFile === undefined) return raw;
  const { [promptKey]: _, ...rest } = raw as Record<string, unknown>;
  return { ...rest, systemPrompt: readText(join(folder, promptFile)).replace(/\n$/, '') };
}

function readText(path: string): string {
  const bytes = readFileSync(path);
  if (bytes.length > bytesMax) throw new BadFile(`${basename(path)} is larger than ${bytesMax} bytes`);
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
      document.set(name, nodeOf(document, own[name]));
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

function nodeOf(document: Document, value: unknown): unknown {
  if (typeof value !== 'string' || !value.includes('\n')) return document.createNode(value);
  const scalar = new Scalar(value);
  scalar.type = Scalar.BLOCK_LITERAL;
  return scalar;
}
