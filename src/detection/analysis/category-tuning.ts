import { hash } from 'node:crypto';
import { z } from 'zod';
import type { AnalysisDefinition } from './analysis-definition.ts';
import { categories, detectionCategories, getCategory } from './registry.ts';
import { tuningFields, type TuningField } from './category.ts';
import { Tuning } from './tuning.schema.ts';

const fields = Object.keys(tuningFields) as TuningField[];

/** Returns the value of a field of a tuning, which may be inside another (`peers.by`). */
export const readTuning = (tuning: Tuning, field: TuningField): unknown =>
  field.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], tuning);

/**
 * Returns the first field of a tuning that a category does not use, as its place below the tuning in a JSON pointer, with the reason. Returns
 * undefined if it uses all.
 */
export function findUnusedTuning(tuning: Tuning, category: string): { field: string; detail: string } | undefined {
  const { instead } = getCategory(category).tuning;
  for (const name of Object.keys(tuning) as (keyof Tuning)[]) {
    const parts = fields.filter((field) => isWithin(field, name) && readTuning(tuning, field) !== undefined);
    const isUnused = (field: string): boolean => !usesTuning(category, field);
    const unused = tuning[name] !== undefined && isUnused(name) && !isCommon(name) ? name : parts.find(isUnused);
    if (unused === undefined) continue;
    const users = detectionCategories.filter((other) => usesTuning(other, unused));
    const reason = instead[unused as TuningField] ?? `This detection is ${category}.`;
    return { field: unused.replace('.', '/'), detail: `applies to ${users.join(' and ')} only. ${reason}` };
  }
  return undefined;
}

const isWithin = (field: string, name: string): boolean => field === name || field.startsWith(`${name}.`);

/** Returns whether every category uses a field: the value lists and the working hours. */
const isCommon = (name: string): boolean => !fields.some((field) => isWithin(field, name));

/** Returns whether a category uses a field of the tuning or a part of it. */
const usesTuning = (category: string, name: string): boolean =>
  Object.keys(getCategory(category).tuning.defaults).some((field) => isWithin(field, name));

/** Change it when the same rows are remembered in another way. What was remembered before is then learned anew. */
const memoryFormat = 2;

/** Returns the SHA-256 (hex) of all fields that must be equal for two windows to be comparable. Memory belongs to one generation. */
export function computeGeneration(definition: AnalysisDefinition): string {
  const { query, category, entityField, timeField, connectionId, cadence, tuning = {} } = definition;
  const remembered = getCategory(category).tuning.remembered.flatMap((field) => {
    const value = readTuning(tuning, field);
    return value === undefined ? [] : [`${field}=${String(value)}`];
  });
  const parts = [memoryFormat, query, category, entityField, timeField, connectionId, cadence, ...remembered];
  return hash('sha256', JSON.stringify(parts));
}

const CategoryField = z.strictObject({
  field: z.string().describe('Its place in `tuning`, such as `historyDays` or `peers.minimum`.'),
  label: z.string(),
  hint: z.string(),
  type: z.enum(['number', 'integer', 'string']),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  options: z.array(z.strictObject({ value: z.string(), label: z.string() })).optional(),
  default: z
    .union([z.number(), z.string()])
    .nullable()
    .describe('The value that applies while the field is not set. Null: none does.'),
});

export const CategoryList = z
  .strictObject({
    categories: z.array(
      z.strictObject({
        name: z.enum(detectionCategories),
        label: z.string(),
        description: z.string().describe('Which entities are judged.'),
        tuning: z
          .array(CategoryField)
          .describe(
            'The fields of `tuning` that the category uses, besides `allowLists`, `workingHours` and `severityRules`.',
          ),
      }),
    ),
  })
  .meta({ id: 'CategoryList' });

/** Returns what people see of each category, and the fields of the tuning that it uses with their limits. */
export const listCategories = (): z.infer<typeof CategoryList> => ({
  categories: detectionCategories.map((name) => {
    const { label, description, tuning } = categories[name];
    const used = Object.entries(tuning.defaults) as [TuningField, string | number | null][];
    return { name, label, description, tuning: used.map(([field, value]) => describeField(field, value)) };
  }),
});

type JsonSchema = { type?: string; minimum?: number; maximum?: number; properties?: Record<string, JsonSchema> };
const tuningSchema = z.toJSONSchema(z.object(Tuning.shape)) as JsonSchema;

function describeField(field: TuningField, value: string | number | null): z.infer<typeof CategoryField> {
  const { options, ...texts }: { label: string; hint: string; options?: Record<string, string> } = tuningFields[field];
  const { type, minimum, maximum } = findSchema(field);
  return {
    field,
    ...texts,
    type: type as 'number',
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
    ...(options && { options: Object.entries(options).map(([option, label]) => ({ value: option, label })) }),
    default: value,
  };
}

/** Returns the limits of a field of the tuning. */
const findSchema = (field: string): JsonSchema =>
  field.split('.').reduce((schema, name) => schema.properties?.[name] ?? {}, tuningSchema);
