import { stringify } from 'yaml';
import type { z } from 'zod';
import { ExternalError } from '../../platform/lib/external-error.ts';
import { isObject } from '../../platform/lib/json/json-values.ts';
import { parseJsonOrYaml } from '../../platform/lib/json/yaml.ts';
import { fieldError } from '../../platform/lib/errors.ts';
import { describeIssue } from '../../platform/lib/schema-parts.ts';
import { compareCodeUnits } from '../../platform/lib/text/canonical-text.ts';
import { isStorable } from '../../platform/lib/text/storable-text.ts';
import { skillBounds, SkillContent, SkillName, type SkillFile } from './skills.schema.ts';

/** A file of a skill as it lies in a folder or archive. `path` is relative to the folder of the skill. */
export type BundleFile = { path: string; bytes: Buffer };

/** A skill with the name that its `SKILL.md` has. */
export type NamedSkill = { name: string; content: SkillContent };

const mainFile = 'SKILL.md';

/** The fields of the front matter in the order of the Agent Skills specification, by the name that the API uses. */
const frontMatterFields = {
  name: 'name',
  description: 'description',
  license: 'license',
  compatibility: 'compatibility',
  metadata: 'metadata',
  'allowed-tools': 'allowedTools',
} as const;

/**
 * Reads a skill from its files: `SKILL.md` with YAML front matter and a Markdown body, and any others beside it
 * (https://agentskills.io/specification). `folder` is the name of the folder they lie in, which must be the name of the skill; null if they lie in
 * none. Throws a 400 whose pointer has the file and the field.
 */
export function readBundle(folder: string | null, files: readonly BundleFile[]): NamedSkill {
  const main = files.find(({ path }) => path === mainFile);
  if (!main) throw fieldError(`/${mainFile}`, 'required', `A skill is a folder with ${mainFile}.`);
  const { frontMatter, body } = splitMain(toText(main.bytes) ?? refuseMain('is not UTF-8 text.'));
  const { name, ...fields } = readFrontMatter(frontMatter);
  const parsedName = SkillName.safeParse(name);
  if (!parsedName.success) throw toFieldError(parsedName.error, ['name']);
  if (folder !== null && folder !== parsedName.data)
    refuseMain(`has the name ${parsedName.data}, but its folder is ${folder}. They must be the same.`, 'name');
  const others = sortByPath(files.filter((file) => file !== main)).map(toSkillFile);
  return { name: parsedName.data, content: parseContent({ ...fields, body, files: others }) };
}

/** Returns files in the order in which skills have them. */
export const sortByPath = <File extends { path: string }>(files: readonly File[]): File[] =>
  files.toSorted((a, b) => compareCodeUnits(a.path, b.path));

/** Validates the content of a skill that was read from files. Throws a 400 whose pointer has the file and the field. */
function parseContent(input: Record<string, unknown> & { files: SkillFile[] }): SkillContent {
  const parsed = SkillContent.safeParse(input);
  if (!parsed.success) throw toFieldError(parsed.error, [], input.files);
  checkContent(parsed.data);
  return parsed.data;
}

/** Checks what a schema cannot: the size of a skill, and that its files can lie beside each other on every file system. Throws a 400. */
export function checkContent({ body, files }: Pick<SkillContent, 'body' | 'files'>): void {
  const paths = new Set<string>();
  let bytes = Buffer.byteLength(body);
  for (const [index, file] of files.entries()) {
    const size = bytesOf(file).length;
    if (size > skillBounds.fileBytesMax)
      throw fieldError(`/files/${index}`, 'too_big', `${file.path} is larger than ${skillBounds.fileBytesMax} bytes.`);
    const path = file.path.toLowerCase();
    if (paths.has(path)) throw fieldError(`/files/${index}/path`, 'duplicate', `There are two files ${file.path}.`);
    paths.add(path);
    bytes += size;
  }
  for (const [index, { path }] of files.entries()) {
    const parents = path.toLowerCase().split('/').slice(0, -1);
    const parent = parents.map((_, depth) => parents.slice(0, depth + 1).join('/')).find((one) => paths.has(one));
    if (parent !== undefined)
      throw fieldError(`/files/${index}/path`, 'duplicate', `${parent} cannot be both a file and a folder.`);
  }
  if (bytes > skillBounds.bytesMax)
    throw fieldError('/files', 'too_big', `The skill is larger than ${skillBounds.bytesMax} bytes.`);
}

/** Returns the files of a skill, `SKILL.md` first. */
export function toBundleFiles({ name, content }: NamedSkill): BundleFile[] {
  const main = { path: mainFile, bytes: Buffer.from(renderMain(name, content)) };
  return [main, ...content.files.map((file) => ({ path: file.path, bytes: bytesOf(file) }))];
}

/** Returns the content of a file. */
export const bytesOf = ({ text, base64 = '' }: SkillFile): Buffer =>
  text === undefined ? Buffer.from(base64, 'base64') : Buffer.from(text);

const toSkillFile = ({ path, bytes }: BundleFile): SkillFile => {
  const text = toText(bytes);
  return text === undefined ? { path, base64: bytes.toString('base64') } : { path, text };
};

/** Returns the text of UTF-8 that the database can store as text, or undefined. */
function toText(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return isStorable(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

function renderMain(name: string, content: SkillContent): string {
  const { description, license, compatibility, metadata, allowedTools, body } = content;
  const frontMatter = {
    name,
    description,
    ...(license === null ? {} : { license }),
    ...(compatibility === null ? {} : { compatibility }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    ...(allowedTools.length === 0 ? {} : { 'allowed-tools': renderTools(allowedTools) }),
  };
  return `---\n${stringify(frontMatter, { lineWidth: 0 })}---\n${body}`;
}

/** The specification allows a list as well as words, which cannot contain spaces. */
const renderTools = (tools: readonly string[]): string | readonly string[] =>
  tools.some((tool) => /\s/.test(tool)) ? tools : tools.join(' ');

function splitMain(text: string): { frontMatter: string; body: string } {
  const [, rest] = /^\uFEFF?---[ \t]*\r?\n([^]*)$/.exec(text) ?? [];
  const end = rest === undefined ? null : /^---[ \t]*(?:\r?\n|$)/m.exec(rest);
  if (rest === undefined || !end)
    return refuseMain('must begin with front matter: YAML between two lines of three hyphens.');
  return { frontMatter: rest.slice(0, end.index), body: rest.slice(end.index + end[0].length) };
}

function readFrontMatter(text: string): Record<string, unknown> {
  const fields = parseYaml(text);
  if (!isObject(fields)) return refuseMain('has front matter that is not a mapping of names to values.');
  const unknown = Object.keys(fields).find((name) => !Object.hasOwn(frontMatterFields, name));
  if (unknown !== undefined)
    refuseMain(`has the unknown field "${unknown}". Put further properties under \`metadata\`.`, unknown);
  const entries = Object.entries(frontMatterFields)
    .filter(([name]) => Object.hasOwn(fields, name))
    .map(([name, field]) => [field, field === 'allowedTools' ? splitTools(fields[name]) : fields[name]]);
  return Object.fromEntries(entries) as Record<string, unknown>;
}

const splitTools = (tools: unknown): unknown =>
  typeof tools === 'string' ? tools.split(/\s+/).filter((tool) => tool !== '') : tools;

/** All scalars are texts, as the specification wants for `metadata`. */
function parseYaml(text: string): unknown {
  try {
    return text.trim() === '' ? {} : parseJsonOrYaml(Buffer.from(text));
  } catch (error) {
    if (!(error instanceof ExternalError)) throw error;
    const reason = error.cause instanceof Error ? error.cause.message : error.message;
    return refuseMain(`has front matter that is not YAML: ${reason}. Put quotation marks around values with a colon.`);
  }
}

function refuseMain(problem: string, field?: string): never {
  const pointer = field === undefined ? `/${mainFile}` : `/${mainFile}/${field}`;
  throw fieldError(pointer, 'invalid_skill', `${mainFile} ${problem}`);
}

/** Returns the first issue as a 400. Fields of the front matter get their names in the file, and files their paths. */
function toFieldError(error: z.ZodError, at: readonly string[], files: readonly SkillFile[] = []): Error {
  const { path, message } = error.issues[0]!;
  const [field, index, ...more] = [...at, ...path];
  const detail = describeIssue(message);
  if (field === 'files') {
    const file = files[Number(index)]?.path ?? 'files';
    return fieldError(`/${file}`, 'invalid_skill', `${file}: ${more[0] === 'path' ? 'the path ' : ''}${detail}.`);
  }
  const inFile = Object.entries(frontMatterFields).find(([, name]) => name === field)?.[0] ?? String(field);
  const pointer = [mainFile, inFile, ...(index === undefined ? [] : [String(index)])].join('/');
  return fieldError(`/${pointer}`, 'invalid_skill', `\`${inFile}\` of ${mainFile} ${detail}.`);
}
