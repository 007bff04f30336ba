import { z } from 'zod';
import { boundedString, isLongerThan } from '../../../platform/lib/text/bounded-text.ts';
import { parseHeadlineTemplate } from '../../analysis/wording.ts';

export const cadences = ['hourly', 'daily', 'weekly'] as const;
export type Cadence = (typeof cadences)[number];
export const planningModes = ['auto', 'never', 'always'] as const;
export const modes = ['standard', 'sandbox'] as const;

const tagMax = 100;

/**
 * Tags in lower case, untrimmed, in their original order and without duplicates. Some characters become longer in lower
 * case, so the limit applies before and after the conversion.
 */
export const Tags = z
  .array(
    boundedString({ min: 1, max: tagMax }).refine(
      (tag) => !isLongerThan(tag.toLowerCase(), tagMax),
      `must have at most ${tagMax} characters in lower case`,
    ),
  )
  .transform((tags) => [...new Set(tags.map((tag) => tag.toLowerCase()))]);

/** A template such as `Shadow copies deleted on {{host}} by {{user}}`. */
export const HeadlineInput = boundedString({ min: 1, max: 200 })
  .check(({ value, issues }) => {
    const parsed = parseHeadlineTemplate(value);
    if ('problem' in parsed) issues.push({ code: 'custom', input: value, message: parsed.problem });
  })
  .describe(
    'Template of the headline of a hit, such as `Shadow copies deleted on {{host}} by {{user}}`. A placeholder is the name of a field of the rows, in any case, dotted for nested fields. Without it, the headline follows from the category, the name and the rows.',
  );

export const AgentInput = z.strictObject({
  type: z.enum(['text', 'number', 'boolean', 'date']),
  name: boundedString({ min: 1, max: 255 }),
  description: boundedString({ max: 1000 }).default(''),
  required: z.boolean().default(false),
});

/** What a run can be given, by name. */
export const AgentInputs = z
  .array(AgentInput)
  .max(50)
  .refine((inputs) => new Set(inputs.map(({ name }) => name)).size === inputs.length, 'must have different names');

export const ContextDoc = z.strictObject({
  provider: boundedString({ min: 1, max: 100 }).describe('The product that hosts the document, as free text.'),
  id: boundedString({ min: 1, max: 1000 }),
  name: boundedString({ min: 1, max: 1000 }),
  mimeType: boundedString({ min: 1, max: 255 }),
  content: boundedString({ max: 20_000 })
    .optional()
    .describe('Text of the document, which the model receives as reference material. Other documents are only listed.'),
});

const schemaDepthMax = 50;

/** A schema object in the style of JSON Schema. Keywords that begin with `x-` are for display and are not sent to a model. */
export const OutputSchema = z.looseObject({
  type: z.string().optional(),
  title: z.string().optional(),
  description: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  items: z.unknown().optional(),
  required: z.array(z.string()).optional(),
  enum: z.array(z.string()).optional(),
  additionalProperties: z.boolean().optional(),
});
export type OutputSchema = z.infer<typeof OutputSchema>;

export const OutputSchemaInput = OutputSchema.refine(
  (schema) => isShallow(schema),
  `must not nest deeper than ${schemaDepthMax} levels`,
);

/**
 * Returns whether a value is nested less deeply than schemas allow. Walks it level by level instead of recursing, so that deep nesting
 * cannot exhaust the stack.
 */
function isShallow(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > schemaDepthMax) return false;
    level = level.flatMap((item) => (item !== null && typeof item === 'object' ? Object.values(item) : []));
  }
  return true;
}

const tokens = z.int().min(1).max(1_000_000_000_000).optional();
const usd = z.number().min(0).max(1_000_000).optional();

/** Budgets of one detection or agent. Each takes precedence over the same budget of the model alias. Budgets of the organization are configured in the settings only. */
export const BudgetOverrides = z
  .strictObject({
    stepsPerEntity: z.int().min(1).max(100).optional(),
    tokensPerRun: tokens,
    secondsPerRun: z.int().min(1).max(86_400).optional(),
    usdPerRun: usd,
    tokensPerDetectionDay: tokens,
    usdPerDetectionDay: usd,
  })
  .describe('Take precedence over the budgets of the model alias. With {}, only those of the alias apply.')
  .meta({ id: 'BudgetOverrides' });
export type BudgetOverrides = z.infer<typeof BudgetOverrides>;

// Servers that force a schema stop a small model at these lengths, which would repeat itself to the limit of tokens otherwise. Longer
// answers are read all the same.
const text = (maxLength: number, description?: string): OutputSchema => ({
  type: 'string',
  maxLength,
  ...(description !== undefined && { description }),
});
const texts = (...names: string[]): OutputSchema['properties'] =>
  Object.fromEntries(names.map((name) => [name, text(200)]));
const list = (maxItems: number, items: OutputSchema, description?: string): OutputSchema => ({
  type: 'array',
  maxItems,
  items,
  ...(description !== undefined && { description }),
});
const citation: OutputSchema = {
  type: 'object',
  description:
    'A cell {observation, rowId, field, value}, a figure {observation, column, value}, {fact}, {hit}, {note}, {list, entry}, {document, quote} or {item, quote}. `observation` is `rows` for the rows of the case.',
  properties: texts(
    'observation',
    'rowId',
    'field',
    'column',
    'value',
    'fact',
    'hit',
    'note',
    'list',
    'entry',
    'document',
    'item',
    'quote',
  )!,
  additionalProperties: false,
};
const claim: OutputSchema = {
  type: 'object',
  properties: {
    text: text(400, 'One sentence.'),
    kind: { type: 'string', enum: ['fact', 'assessment'] },
    cites: list(6, citation),
  },
  required: ['text', 'kind', 'cites'],
  additionalProperties: false,
};
// A model writes the properties in this order. It reasons and cites before it concludes, and numbers come last.
const properties: OutputSchema['properties'] = {
  reasoning: text(2_000, 'What was found and what is open, step by step.'),
  answers: list(
    20,
    {
      type: 'object',
      properties: texts('question', 'observation')!,
      required: ['question', 'observation'],
      additionalProperties: false,
    },
    'For each question of the plan, the observation that answers it or shows that there are no data for it.',
  ),
  claims: list(20, claim),
  techniques: list(20, text(20), 'IDs of ATT&CK techniques.'),
  nextSteps: list(10, text(300)),
  headline: text(200),
  verdict: { type: 'string', enum: ['raise', 'dismiss', 'undecided'] },
  severity: { type: 'string', enum: ['none', 'low', 'medium', 'high', 'critical'] },
  confidence: { type: 'integer', minimum: 0, maximum: 100 },
};

/** The schema of an agent's output if its author set none: one verdict per entity. */
export const verdictSchema: OutputSchema = {
  type: 'object',
  title: 'Verdict',
  description: 'The verdict on one entity, with claims that cite what proves them.',
  properties,
  required: Object.keys(properties!),
  additionalProperties: false,
};
