import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Expression } from '../../matching/expression.ts';
import type { LogSource } from '../rules/rule.ts';
import { parseSearch } from '../rules/parse-search.ts';
import type { Placeholders } from '../rules/modifiers.ts';

/** The folder of the shipped mappings. */
const mappingsDir = resolve(import.meta.dirname, '../../../../sigma/mappings');

/** A log source of a mapping with the condition that selects its events. Null: all events of the table. */
export type MappedSource = { logSource: LogSource; where: Expression | null; fields: FieldNames };

export type Shape = Omit<MappingShape, 'sources' | 'products'> & {
  sources: MappedSource[];
  products: Readonly<Record<string, Expression>>;
};

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
    shapes: shapes.map((shape) => ({
      ...shape,
      sources: (shape.sources ?? []).map((one) => toMappedSource(one)),
      products: Object.fromEntries(
        Object.entries(shape.products ?? {}).map(([product, search]) => [
          product,
          parseSearch(search, ['products', product], { placeholders: {} }),
        ]),
      ),
    })),
  };
}

function toMappedSource({ logsource, where, fields = {} }: MappingSource): MappedSource {
  const condition = where === undefined ? null : parseSearch(where, ['where'], { placeholders: {} });
  return { logSource: logsource as LogSource, where: condition, fields };
}

const Name = z.string().min(1).max(200);
const Fields = z
  .record(Name, z.union([Name, z.array(Name).min(1), z.strictObject({ within: Name })]))
  .describe(
    'Names in the logs by Sigma names. Of a list, the first that an event has counts. `within` is JSON in which the field is a key at any depth. `*` stands for every other field, with `*` in the name.',
  );

const LogSourceFile = z.strictObject({ category: Name.optional(), product: Name.optional(), service: Name.optional() });

/** Which events belong to a log source. `where` is a Sigma search identifier: a map of fields, or a list of maps. */
const Source = z.strictObject({ logsource: LogSourceFile, where: z.unknown().optional(), fields: Fields.optional() });

/** One form in which the logs of a mapping exist. */
const ShapeFile = z.strictObject({
  name: Name,
  title: Name,
  tables: z
    .record(Name, Name)
    .describe('The dataset, table or index by kind of connection. Other kinds do not have this form.'),
  recognizedBy: z.array(Name).optional().describe('Fields of a dataset that has this form.'),
  fields: Fields.optional(),
  sources: z.array(Source).optional().describe('Log sources that differ in this form.'),
  products: z
    .record(Name, z.unknown())
    .optional()
    .describe(
      'Searches for the events of a product in a dataset that can have those of several. Left out if the dataset has none of their fields.',
    ),
  entity: z
    .array(Name)
    .optional()
    .describe('Sigma names of the fields that identify what a match is about, by priority.'),
});

/** A file of `sigma/mappings`. */
const MappingFile = z.strictObject({
  name: Name,
  title: Name,
  sources: z.array(Source).optional().describe('Log sources that are the same in every form.'),
  shapes: z.array(ShapeFile).min(1),
  placeholders: z
    .record(Name, z.array(z.string()).min(1))
    .optional()
    .describe('Values of %name% for the modifier expand.'),
});
export type MappingFile = z.infer<typeof MappingFile>;
type MappingShape = z.infer<typeof ShapeFile>;
type MappingSource = z.infer<typeof Source>;
export type FieldNames = z.infer<typeof Fields>;
