import { z } from 'zod';
import { detectionCategories } from '../../analysis/registry.ts';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';
import { AcceptanceCriteria, AcceptanceCriterion } from '../../verdicts/investigation/acceptance.ts';
import { SkillName } from '../../skills/skills.schema.ts';
import { Tuning } from '../../analysis/tuning.schema.ts';
import {
  BudgetOverrides,
  AgentInput,
  AgentInputs,
  cadences,
  ContextDoc,
  HeadlineInput,
  modes,
  OutputSchema,
  OutputSchemaInput,
  planningModes,
  Tags,
  verdictSchema,
} from './field-schemas.ts';
import { parseCustomCron, parseTimeZone } from './cron-schedule.ts';

/** Describes how one field of a request body is validated, stored, shown and exported. */
export type DetectionField = {
  /** Column of the agent row. */
  column: string;
  /** Schema of the value in a request body. Nullable where null resets the field to its default. */
  input: z.ZodType;
  /** Schema of the value in the record. A field without one is not shown as a field of its own. */
  output?: z.ZodType;
  /** A create body must have the field. */
  required?: true;
  /** The column stores JSON text. */
  json?: true;
  /** The column is null while the field is unset. */
  nullable?: true;
  /** The value that has the same effect as leaving the field out. A field without one cannot be reset once it is set. */
  default?: unknown;
  /** Value in the record while the column is null. Default: null. */
  recordWhenUnset?: 'omitted' | 'default';
  /** Value in a revision's definition while the column is null. Default: null. */
  definitionWhenUnset?: 'omitted' | 'default';
  /** The field is not part of the definition, so changing it creates no revision. */
  outsideDefinition?: true;
  /** The use cases set the column, because the value follows from prompt versions or from the schedule. */
  managed?: true;
  /** Multi-line text: diffs compare it line by line, and detection files have it last. */
  longText?: true;
  /** Validates the value and returns the text to store. `now` is slot time. */
  normalize?: (value: string, now: Date) => string;
};

const minutesMax = 5_256_000; // ten years
const columnName = boundedString({ min: 1, max: 255 });
const omittedIfUnset = { nullable: true, recordWhenUnset: 'omitted' } as const;

/**
 * Every field that a request body of a detection can set, in the order of the OpenAPI document. Validation, columns, the
 * record, revisions, export, import and detection files follow from this table. A new field is one entry here and a
 * migration that adds its column.
 */
export const detectionFields = {
  name: { column: 'name', input: boundedString({ min: 1, max: 255 }), output: z.string(), required: true },
  detectionCategory: {
    column: 'detection_category',
    input: z.enum(detectionCategories),
    output: z.enum(detectionCategories).nullable(),
    required: true,
    nullable: true,
  },
  systemPrompt: {
    column: 'prompt',
    input: boundedString({ min: 1 }),
    required: true,
    managed: true,
    longText: true,
  },
  detectionQuery: {
    column: 'detection_query',
    input: boundedString({ min: 1 }),
    output: z.string().nullable(),
    required: true,
    nullable: true,
    longText: true,
  },
  description: {
    column: 'description',
    input: boundedString({ max: 1000 }).nullable(),
    output: z.string(),
    default: '',
  },
  headline: {
    column: 'headline',
    input: HeadlineInput.nullable(),
    output: z.string().describe('Template of the headline of a hit.').optional(),
    default: null,
    ...omittedIfUnset,
    definitionWhenUnset: 'omitted',
  },
  siemType: {
    column: 'siem_type',
    input: z.string().nullable().describe('Name of the SIEM product, as free text.'),
    output: z.string().nullable(),
    nullable: true,
    default: null,
  },
  toolNames: {
    column: 'tool_names',
    input: z.array(z.string()).nullable(),
    output: z.array(z.string()),
    default: [],
  },
  skills: {
    column: 'skills',
    input: z
      .array(SkillName)
      .max(20)
      .transform((names) => [...new Set(names)])
      .nullable()
      .describe('Names of the skills that the model may read: instructions of `GET /api/skills`.'),
    output: z.array(z.string()).optional(),
    json: true,
    nullable: true,
    default: [],
    recordWhenUnset: 'omitted',
    definitionWhenUnset: 'omitted',
  },
  detectionCadence: {
    column: 'detection_cadence',
    input: z.enum(cadences).nullable(),
    output: z.enum(cadences).nullable().optional(),
    nullable: true,
    default: null,
  },
  customCronSchedule: {
    column: 'custom_cron_schedule',
    input: z
      .string()
      .describe(
        'Five cron fields in the zone of `cronTimezone`, at most hourly. Takes precedence over `detectionCadence`.',
      )
      .nullable(),
    output: z.string().nullable().optional(),
    nullable: true,
    default: null,
    normalize: parseCustomCron,
  },
  cronTimezone: {
    column: 'cron_timezone',
    input: z
      .string()
      .max(100)
      .describe(
        'IANA time zone of the schedule, for example `Europe/Berlin`. Null is UTC. A local time that the clocks skip runs once, as much later. One that occurs twice runs once, at its first occurrence, unless the schedule runs in every hour. No two slots are less than an hour apart.',
      )
      .nullable(),
    output: z.string().optional(),
    nullable: true,
    default: null,
    recordWhenUnset: 'omitted',
    definitionWhenUnset: 'omitted',
    normalize: parseTimeZone,
  },
  tags: { column: 'tags', input: Tags, output: z.array(z.string()), default: [] },
  enabled: { column: 'enabled', input: z.boolean(), output: z.boolean(), outsideDefinition: true, managed: true },
  modelAlias: {
    column: 'model_alias',
    input: z.string(),
    output: z.string().describe('Alias of the model. `analyst` is the built-in analyst, which needs no model.'),
    default: 'default',
  },
  planningMode: {
    column: 'planning_mode',
    input: z.enum(planningModes),
    output: z.enum(planningModes),
    default: 'auto',
  },
  mode: { column: 'mode', input: z.enum(modes), output: z.enum(modes), default: 'standard' },
  inputs: {
    column: 'inputs',
    input: AgentInputs.describe('Values that a run can be given, which the model reads. Their names must differ.'),
    output: z.array(AgentInput),
    json: true,
    default: [],
  },
  contextDocs: {
    column: 'context_docs',
    input: z.array(ContextDoc),
    output: z.array(ContextDoc),
    json: true,
    default: [],
  },
  structuredOutputSchema: {
    column: 'structured_output_schema',
    input: OutputSchemaInput,
    output: OutputSchema.describe('Schema of the verdict that the agent emits.'),
    json: true,
    nullable: true,
    default: verdictSchema,
    recordWhenUnset: 'default',
  },
  connectionId: {
    column: 'connection_id',
    input: z.guid().toLowerCase(),
    output: z.string().optional(),
    ...omittedIfUnset,
  },
  entityField: { column: 'entity_field', input: columnName, output: z.string().optional(), ...omittedIfUnset },
  timeField: { column: 'time_field', input: columnName, output: z.string().optional(), ...omittedIfUnset },
  tuning: {
    column: 'tuning',
    input: Tuning,
    output: Tuning.optional(),
    json: true,
    nullable: true,
    default: {},
    recordWhenUnset: 'omitted',
    definitionWhenUnset: 'omitted',
  },
  continuous: {
    column: 'continuous',
    input: z
      .boolean()
      .describe(
        'Matches events when they arrive, besides the schedule. The category must be `custom` or `privilege_escalation`, and the query a filter over single events of the embedded log store, or the correlation of a Sigma rule. Each event is then a candidate of its own.',
      ),
    output: z.boolean().optional(),
    nullable: true,
    default: false,
    recordWhenUnset: 'omitted',
    definitionWhenUnset: 'omitted',
  },
  lookbackMinutes: {
    column: 'lookback_minutes',
    input: z.int().min(1).max(minutesMax),
    output: z.int().optional(),
    ...omittedIfUnset,
  },
  suppressionMinutes: {
    column: 'suppression_minutes',
    input: z.int().min(0).max(minutesMax),
    output: z.int().optional(),
    nullable: true,
    default: 360,
    recordWhenUnset: 'omitted',
    definitionWhenUnset: 'default',
  },
  dismissConfidence: {
    column: 'dismiss_confidence',
    input: z.int().min(0).max(100).describe('The confidence from which a judge may dismiss a candidate. Default: 70.'),
    output: z.int().optional(),
    nullable: true,
    default: 70,
    recordWhenUnset: 'omitted',
    definitionWhenUnset: 'default',
  },
  acceptanceCriteria: {
    column: 'acceptance_criteria',
    input: AcceptanceCriteria.nullable(),
    output: z.array(AcceptanceCriterion).optional(),
    json: true,
    nullable: true,
    default: [],
    recordWhenUnset: 'omitted',
    definitionWhenUnset: 'omitted',
  },
  onUndecided: {
    column: 'on_undecided',
    input: z
      .enum(['raise', 'review'])
      .nullable()
      .describe(
        'What becomes of a candidate that the judge leaves undecided. `raise`: a hit that is marked as undecided. `review`: it waits a day for a person in `GET /api/review-cases`, and then becomes such a hit. Default: `raise`.',
      ),
    output: z.enum(['raise', 'review']).optional(),
    nullable: true,
    default: 'raise',
    recordWhenUnset: 'omitted',
    definitionWhenUnset: 'omitted',
  },
  budgets: {
    column: 'budgets',
    input: BudgetOverrides,
    output: BudgetOverrides.optional(),
    json: true,
    nullable: true,
    default: {},
    recordWhenUnset: 'omitted',
    definitionWhenUnset: 'omitted',
  },
} as const satisfies Record<string, DetectionField>;
