import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { type Document, isMap, isScalar, LineCounter, parseAllDocuments } from 'yaml';
import { fieldError } from '../../../platform/lib/errors.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';
import { isZip, readZip, type ZipEntry } from '../../../platform/lib/storage/zip.ts';
import { type DocumentHead, type Level, levels, type RuleError, SigmaError } from './rule.ts';

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

type Fields = Record<string, unknown>;

/** Reads what all kinds of documents have. Throws a SigmaError. */
export function readHead(fields: Fields, document: SourceDocument): DocumentHead {
  return {
    id: optionalText(fields, 'id'),
    name: optionalText(fields, 'name'),
    title: requiredTitle(fields),
    status: optionalText(fields, 'status'),
    description: optionalText(fields, 'description') ?? '',
    author: authorsOf(fields),
    license: optionalText(fields, 'license'),
    date: optionalText(fields, 'date'),
    modified: optionalText(fields, 'modified'),
    references: textList(fields, 'references'),
    falsePositives: textList(fields, 'falsepositives'),
    tags: textList(fields, 'tags'),
    level: levelOf(fields),
    line: document.line,
    text: document.text,
  };
}

const isText = (value: unknown): boolean => ['string', 'number', 'bigint', 'boolean'].includes(typeof value);

export function optionalText(fields: Fields, key: string): string | null {
  const value = fields[key];
  if (value === undefined || value === null) return null;
  if (!isText(value)) throw new SigmaError([key], `${key} must be text`);
  return String(value);
}

function requiredTitle(fields: Fields): string {
  const title = optionalText(fields, 'title')?.trim();
  if (!title) throw new SigmaError([], 'title is missing');
  return title;
}

/** Returns a list of texts. A single text counts as a list of one. */
export function textList(fields: Fields, key: string): string[] {
  const value = fields[key];
  if (value === undefined || value === null) return [];
  const list: unknown[] = Array.isArray(value) ? value : [value];
  const wrong = list.findIndex((entry) => entry !== null && !isText(entry));
  if (wrong >= 0) throw new SigmaError([key, wrong], `${key} must be a list of texts`);
  return list.filter((entry) => entry !== null).map(String);
}

function authorsOf(fields: Fields): string {
  return textList(fields, 'author').join(', ');
}

function levelOf(fields: Fields): Level | null {
  const level = optionalText(fields, 'level')?.toLowerCase();
  if (level === undefined) return null;
  const known = levels.find((one) => one === level);
  if (!known) throw new SigmaError(['level'], `level must be one of ${levels.join(', ')}`);
  return known;
}

const bounds = { entriesMax: 20_000, entryMaxBytes: 1024 * 1024, totalMaxBytes: 24 * 1024 * 1024 };
/** The files of a repository that are no rules are unpacked too. */
const tarBytesMax = 256 * 1024 * 1024;
const gunzipAsync = promisify(gunzip);

const isRuleFile = (name: string): boolean => /\.ya?ml$/i.test(name);

/**
 * Returns the YAML of the rules in a zip archive, a tar.gz archive or a YAML file: the `.yml` and `.yaml` files of an archive, by name. Throws an
 * `ExternalError` if there are none, the archive is damaged, or it has more than 20,000 such files or 24 MiB of them.
 */
export async function readRuleText(content: Uint8Array): Promise<string> {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  if (bytes[0] !== 0x1f && !isZip(bytes)) return toText(bytes, 'the file');
  const files = isZip(bytes) ? readZip(bytes, isRuleFile, bounds) : await readTar(await unpack(bytes));
  if (files.length === 0) throw new ExternalError('the archive contains no .yml files');
  return files
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((file) => toText(file.bytes, file.name))
    .join('\n---\n');
}

function toText(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new ExternalError(`${name} is not UTF-8 text`, { cause: error });
  }
}

async function unpack(bytes: Buffer): Promise<Buffer> {
  try {
    return await gunzipAsync(bytes, { maxOutputLength: tarBytesMax });
  } catch (error) {
    throw new ExternalError('the archive cannot be unpacked', { cause: error });
  }
}

/** Reads the rule files of a tar archive. Names are never used as paths. */
async function readTar(bytes: Buffer): Promise<ZipEntry[]> {
  const files: ZipEntry[] = [];
  let total = 0;
  try {
    for await (const entry of Readable.from([bytes]).pipe(extract())) {
      const { name, type, size = 0 } = entry.header;
      const isWanted = type === 'file' && isRuleFile(name);
      if (isWanted) total += size;
      if (total > bounds.totalMaxBytes || size > tarBytesMax || files.length >= bounds.entriesMax)
        throw new ExternalError(
          `the archive contains more than ${bounds.entriesMax} files or ${bounds.totalMaxBytes} bytes`,
        );
      const chunks: Buffer[] = [];
      for await (const chunk of entry) if (isWanted) chunks.push(chunk as Buffer);
      if (isWanted) files.push({ name, bytes: Buffer.concat(chunks) });
    }
  } catch (error) {
    if (error instanceof ExternalError) throw error;
    throw new ExternalError('the archive cannot be unpacked', { cause: error });
  }
  return files;
}
