import { z } from 'zod';
import { detectionCategories } from '../../analysis/candidate.ts';
import { PageQuery } from '../../../platform/lib/page-request.ts';
import { text } from '../../../platform/lib/text/bounded-text.ts';
import { BudgetOverrides } from './budgets.schema.ts';
import { ContextDoc, Input, OutputSchemaInput, Tags } from './detection-fields.ts';
import { cadences, Detection, dismissReasons, modes, planningModes } from './detection.schema.ts';
import { Instant } from '../../../platform/lib/instant.ts';

const name = text({ min: 1, max: 255 });
const description = text({ max: 1000 }).nullable().optional();
const category = z.enum(detectionCategories);
const required = text({ min: 1 });
const cron = z.string().describe('Five fields in UTC, not more often than hourly; wins over detectionCadence.');
const minutesOfTenYears = 5_256_000;

const schedule = {
  detectionCadence: z.enum(cadences).nullable().optional(),
  customCronSchedule: cron.nullable().optional(),
};

const optional = {
  description,
  siemType: z.string().nullable().optional().describe('Name of the SIEM product; any text.'),
  toolNames: z.array(z.string()).nullable().optional(),
  ...schedule,
  tags: Tags.optional(),
  enabled: z.boolean().optional(),
  modelAlias: z.string().optional(),
  planningMode: z.enum(planningModes).optional(),
  mode: z.enum(modes).optional(),
  inputs: z.array(Input).optional(),
  contextDocs: z.array(ContextDoc).optional(),
  structuredOutputSchema: OutputSchemaInput.optional(),
  connectionId: z.guid().toLowerCase().optional(),
  entityField: text({ min: 1, max: 255 }).optional(),
  timeField: text({ min: 1, max: 255 }).optional(),
  lookbackMinutes: z.int().min(1).max(minutesOfTenYears).optional(),
  suppressionMinutes: z.int().min(0).max(minutesOfTenYears).optional(),
  budgets: BudgetOverrides.optional(),
};

const createShape = {
  name,
  detectionCategory: category,
  systemPrompt: required,
  detectionQuery: required,
  ...optional,
};

/** Names of the record that a body does not set are dropped, so that what GET gave can be sent back; any other name is refused. */
function body<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const ignored = new Set(Object.keys(Detection.shape).filter((key) => !(key in shape)));
  return z.preprocess((value) => {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).filter(([key]) => !ignored.has(key)));
  }, z.strictObject(shape));
}

export const CreateDetection = body(createShape);
export type CreateDetection = z.infer<typeof CreateDetection>;

/** A body as for create, and the stretch of time to try it on. */
export const PreviewInput = body({
  ...createShape,
  from: Instant,
  to: Instant,
});

export const CreateSuggestion = body({
  ...createShape,
  rationale: text({ max: 10_000 }).optional().describe('Why this detection is suggested.'),
  sourceItemIds: z
    .array(text({ min: 1, max: 200 }))
    .max(100)
    .optional()
    .describe('Feed items that the suggestion comes from.'),
  technique: z
    .string()
    .regex(/^T\d{4}(\.\d{3})?$/, 'must be an ATT&CK technique such as T1059.001')
    .optional(),
  evidence: z
    .array(z.strictObject({ itemId: text({ min: 1, max: 200 }), evidenceRef: text({ min: 1, max: 200 }) }))
    .max(100)
    .optional()
    .describe('Passages of feed items that the suggestion comes from.'),
});
export type CreateSuggestion = z.infer<typeof CreateSuggestion>;

/** Every field optional; absent means unchanged. Null empties description, toolNames, siemType and the two schedule fields. */
export const UpdateDetection = body({
  name: name.optional(),
  detectionCategory: category.optional(),
  systemPrompt: required.optional(),
  detectionQuery: required.optional(),
  ...optional,
});
export type UpdateDetection = z.infer<typeof UpdateDetection>;

export const UpdateAgent = body({
  ...schedule,
  enabled: z.boolean().optional(),
  modelAlias: z.string().optional(),
  budgets: BudgetOverrides.optional(),
});
export type UpdateAgent = z.infer<typeof UpdateAgent>;

export const DismissSuggestion = z.strictObject({
  reason: z.enum(dismissReasons).optional(),
  note: text({ max: 1000 }).optional(),
});
export type DismissSuggestion = z.infer<typeof DismissSuggestion>;

/** Any 8-4-4-4-12 hexadecimal text in either case. */
export const IdPath = z.object({ id: z.guid('must be a UUID').toLowerCase() });

export const ValidateQuery = z.object({
  validate: z
    .enum(['true', 'false'])
    .optional()
    .describe('true: check the query and what the detection names now; 422 if it would not run.'),
});

export const SaveQuery = ValidateQuery.extend({
  require: z.enum(['tests']).optional().describe('tests: save only if the tests of the detection pass; 422 otherwise.'),
});

export const DetectionFilter = PageQuery.extend({
  category: z.enum(detectionCategories).optional(),
  tag: text({ max: 200 }).optional(),
  enabled: z.enum(['true', 'false']).optional(),
  siemType: text({ max: 1000 }).optional(),
  q: text({ max: 255 }).optional().describe('Part of the name or the description, in any case.'),
});
export type DetectionFilter = z.infer<typeof DetectionFilter>;
