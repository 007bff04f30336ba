import type { z } from 'zod';
import { detectionFields, type DetectionField } from './detection-fields.ts';

type Fields = typeof detectionFields;
export type FieldName = keyof Fields;

/** Names of the fields whose entry in the table has the given properties. */
type NamesWith<Properties> = { [K in FieldName]: Fields[K] extends Properties ? K : never }[FieldName];

/** The table as entries, typed loosely for loops over all fields. */
export const fieldEntries = Object.entries(detectionFields) as [FieldName, DetectionField][];

/** The value of a set field. */
export type FieldValue<K extends FieldName> = NonNullable<z.output<Fields[K]['input']>>;

type NullIf<Field, Properties> = Field extends Properties ? null : never;

/** The columns of `agents` that store the fields. The prompt text is stored in `agent_prompts`. */
export type FieldColumns = {
  [K in Exclude<FieldName, 'systemPrompt'> as Fields[K]['column']]:
    | (Fields[K] extends { json: true } ? string : FieldValue<K>)
    | NullIf<Fields[K], { nullable: true }>;
};

/** Fields whose columns follow directly from a request body. Null resets a field. */
export type ColumnInput = {
  [K in Exclude<FieldName, NamesWith<{ managed: true }>>]?: FieldValue<K> | null | undefined;
};

export type RecordFieldName = NamesWith<{ output: z.ZodType }>;

type OmittedInDefinition = NamesWith<{ definitionWhenUnset: 'omitted' }>;
type DefinitionFieldName = Exclude<FieldName, NamesWith<{ outsideDefinition: true }>>;

/** The fields of a detection that a revision keeps. */
export type DefinitionFields = {
  [K in Exclude<DefinitionFieldName, OmittedInDefinition>]:
    | FieldValue<K>
    | (Fields[K] extends { required: true } | { definitionWhenUnset: 'default' }
        ? never
        : NullIf<Fields[K], { nullable: true }>);
} & { [K in OmittedInDefinition]?: FieldValue<K> };

type CreateShape = {
  [K in FieldName]: Fields[K] extends { required: true } ? Fields[K]['input'] : z.ZodOptional<Fields[K]['input']>;
};
type UpdateShape = { [K in FieldName]: z.ZodOptional<Fields[K]['input']> };
type RecordShape = { [K in RecordFieldName]: Fields[K]['output'] };

const mapFields = (toValue: (field: DetectionField) => unknown): Record<string, unknown> =>
  Object.fromEntries(fieldEntries.map(([name, field]) => [name, toValue(field)]).filter(([, value]) => value));

/** The shapes of the zod schemas for a create body, an update body and the record. */
export const createShape = mapFields(({ input, required }) => (required ? input : input.optional())) as CreateShape;
export const updateShape = mapFields(({ input }) => input.optional()) as UpdateShape;
export const recordShape = mapFields(({ output }) => output) as RecordShape;
