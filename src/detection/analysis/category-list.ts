import { z } from 'zod';
import { categories, detectionCategories } from './registry.ts';
import { tuningFields, type TuningField } from './tuning-fields.ts';
import { Tuning } from './tuning.schema.ts';

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
          .describe('The fields of `tuning` that the category uses, besides `allowLists` and `workingHours`.'),
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
