import { z } from 'zod';

const name = z.string().min(1).max(200);
const Fields = z
  .record(name, z.union([name, z.array(name).min(1), z.strictObject({ within: name })]))
  .describe(
    'Names in the logs by Sigma names. Of a list, the first that an event has counts. `within` is JSON in which the field is a key at any depth. `*` stands for every other field, with `*` in the name.',
  );

const LogSource = z.strictObject({ category: name.optional(), product: name.optional(), service: name.optional() });

/** Which events belong to a log source. `where` is a Sigma search identifier: a map of fields, or a list of maps. */
const Source = z.strictObject({ logsource: LogSource, where: z.unknown().optional(), fields: Fields.optional() });

/** One form in which the logs of a mapping exist. */
const Shape = z.strictObject({
  name,
  title: name,
  tables: z
    .record(name, name)
    .describe('The dataset, table or index by kind of connection. Other kinds do not have this form.'),
  recognizedBy: z.array(name).optional().describe('Fields of a dataset that has this form.'),
  fields: Fields.optional(),
  sources: z.array(Source).optional().describe('Log sources that differ in this form.'),
  entity: z
    .array(name)
    .optional()
    .describe('Sigma names of the fields that identify what a match is about, by priority.'),
});

/** A file of `sigma/mappings`. */
export const MappingFile = z.strictObject({
  name,
  title: name,
  sources: z.array(Source).optional().describe('Log sources that are the same in every form.'),
  shapes: z.array(Shape).min(1),
  placeholders: z
    .record(name, z.array(z.string()).min(1))
    .optional()
    .describe('Values of %name% for the modifier expand.'),
});
export type MappingFile = z.infer<typeof MappingFile>;
export type MappingShape = z.infer<typeof Shape>;
export type MappingSource = z.infer<typeof Source>;
export type FieldNames = z.infer<typeof Fields>;
