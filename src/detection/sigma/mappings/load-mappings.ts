import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import type { Expression } from '../../matching/expression.ts';
import type { LogSource } from '../model/rule.ts';
import { parseSearch } from '../parse/parse-search.ts';
import type { Placeholders } from '../parse/placeholders.ts';
import { MappingFile, type FieldNames, type MappingShape, type MappingSource } from './mapping.schema.ts';

/** The folder of the shipped mappings. */
export const mappingsDir = resolve(import.meta.dirname, '../../../../sigma/mappings');

/** A log source of a mapping with the condition that selects its events. Null: all events of the table. */
export type MappedSource = { logSource: LogSource; where: Expression | null; fields: FieldNames };

export type Shape = Omit<MappingShape, 'sources'> & { sources: MappedSource[] };

export type Mapping = { name: string; title: string; sources: MappedSource[]; shapes: Shape[] };

/** Mappings by priority, and the placeholders of all of them. */
export type Mappings = { list: Mapping[]; placeholders: Placeholders };

let shipped: Mapping[] | undefined;
let shippedPlaceholders: Placeholders = {};

/** Returns the mappings of the given folders, then the shipped ones. The shipped files are read once. Throws an Error that names a wrong file. */
export function loadMappings(folders: readonly string[] = []): Mappings {
  if (!shipped) {
    const files = readFolder(mappingsDir);
    shipped = files.map((file) => toMapping(file));
    shippedPlaceholders = placeholdersOf(files);
  }
  const own = folders.flatMap((folder) => readFolder(folder));
  return {
    list: [...own.map((file) => toMapping(file)), ...shipped],
    placeholders: { ...shippedPlaceholders, ...placeholdersOf(own) },
  };
}

const placeholdersOf = (files: readonly MappingFile[]): Placeholders =>
  Object.assign({}, ...files.map(({ placeholders }) => placeholders ?? {})) as Placeholders;

function readFolder(folder: string): MappingFile[] {
  return readdirSync(folder)
    .filter((name) => /\.ya?ml$/.test(name))
    .toSorted()
    .map((name) => readMapping(readFileSync(join(folder, name), 'utf8'), join(folder, name)));
}

/** Parses a mapping. Throws an Error with the name of the file, the field and the reason. */
export function readMapping(text: string, fileName: string): MappingFile {
  try {
    return MappingFile.parse(parse(text));
  } catch (error) {
    const issues = (error as { issues?: { path: PropertyKey[]; message: string }[] }).issues;
    const detail = issues?.[0] ? `${issues[0].path.join('.')}: ${issues[0].message}` : (error as Error).message;
    throw new Error(`${fileName}: ${detail}`, { cause: error });
  }
}

export function toMapping({ name, title, sources = [], shapes }: MappingFile): Mapping {
  return {
    name,
    title,
    sources: sources.map((source) => toMappedSource(source)),
    shapes: shapes.map((shape) => ({ ...shape, sources: (shape.sources ?? []).map((one) => toMappedSource(one)) })),
  };
}

function toMappedSource({ logsource, where, fields = {} }: MappingSource): MappedSource {
  const condition = where === undefined ? null : parseSearch(where, ['where'], { placeholders: {} });
  return { logSource: logsource as LogSource, where: condition, fields };
}
