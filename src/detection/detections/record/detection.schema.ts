import { z } from 'zod';
import { detectionCategories } from '../../analysis/candidate.ts';
import { BudgetOverrides } from './budgets.schema.ts';
import { ContextDoc, Input, OutputSchema } from './detection-fields.ts';

export const cadences = ['hourly', 'daily', 'weekly'] as const;
export type Cadence = (typeof cadences)[number];
export const planningModes = ['auto', 'never', 'always'] as const;
export const modes = ['standard', 'sandbox'] as const;
export const dismissReasons = ['duplicate', 'noisy', 'no_data', 'not_relevant', 'other'] as const;
const builtInAgentTypes = ['threat-relevancy', 'threat-research'] as const;

const Time = z.string().meta({ format: 'date-time' });

const TriggerSummary = z.object({
  id: z.string(),
  source: z.enum(['cron']),
  name: z.string(),
  enabled: z.boolean(),
});

const SystemPrompt = z.object({
  id: z.string(),
  prompt: z.string(),
  description: z.string(),
  version: z.int(),
  createdAt: Time,
});

/** What would keep a detection from running as it is; the run fails with the same words. */
export const Warning = z.object({ code: z.string(), field: z.string(), detail: z.string() });
export type Warning = z.infer<typeof Warning>;

/** Where a suggestion comes from: a passage of a feed item. */
export const Evidence = z.object({
  itemId: z.string(),
  evidenceRef: z.string().describe('`provenance.supportingPassages[n]` of the item.'),
});
export type Evidence = z.infer<typeof Evidence>;

/** What a detection would have raised over the organization's own logs, judged by the built-in analyst. */
export const Estimate = z
  .object({
    from: Time,
    to: Time.describe('As far as windows were examined.'),
    windows: z.int(),
    rowsTotal: z.int(),
    candidates: z.int(),
    hits: z.int(),
    hitsPerDay: z.number(),
    complete: z.boolean().describe('false: time was up before all windows were examined.'),
  })
  .meta({ id: 'Estimate' });
export type Estimate = z.infer<typeof Estimate>;

/** An agent record. Fields after `avgEvalScore30d` are this service's own and optional. */
export const Detection = z
  .object({
    id: z.string(),
    organizationId: z.string(),
    name: z.string(),
    description: z.string(),
    createdAt: Time,
    updatedAt: Time,
    deletedAt: Time.nullable(),
    toolNames: z.array(z.string()),
    inputs: z.array(Input),
    modelAlias: z.string().describe('Alias of the model; `analyst` is the built-in analyst, which needs none.'),
    planningMode: z.enum(planningModes),
    mode: z.enum(modes),
    agentType: z.enum(['response', 'detection']),
    isBuiltIn: z.boolean(),
    builtInAgentType: z.enum(builtInAgentTypes).describe('Means something only where `isBuiltIn` is true.'),
    cronSchedule: z
      .string()
      .nullable()
      .describe('The effective cron in UTC: the custom one, else that of the cadence.'),
    enabled: z.boolean(),
    contextDocs: z.array(ContextDoc),
    workflowStoryImportId: z.string().nullable(),
    triggerSummary: z.array(TriggerSummary),
    structuredOutputSchema: OutputSchema.describe('Schema of the verdict that the agent emits.'),
    tags: z.array(z.string()),
    detectionCategory: z.enum(detectionCategories).nullable(),
    detectionQuery: z.string().nullable(),
    siemType: z.string().nullable(),
    isSuggestion: z.boolean(),
    lastDetectionRunAt: Time.nullable(),
    activeSystemPrompt: SystemPrompt,
    runs30d: z.int(),
    hits30d: z.int(),
    avgEvalScore30d: z.number().min(0).max(100).nullable(),
    detectionCadence: z.enum(cadences).nullable().optional(),
    customCronSchedule: z.string().nullable().optional(),
    connectionId: z.string().optional(),
    entityField: z.string().optional(),
    timeField: z.string().optional(),
    lookbackMinutes: z.int().optional(),
    suppressionMinutes: z.int().optional(),
    budgets: BudgetOverrides.optional(),
    revision: z.int().optional().describe('Of the whole definition; runs name the one they used.'),
    reviews: z
      .object({ truePositive: z.int(), benign: z.int(), falsePositive: z.int(), precision: z.number().min(0).max(1) })
      .optional()
      .describe('What people said of its hits; precision is the share of true positives.'),
    disabledReason: z.string().optional().describe('Why the service switched the detection off.'),
    seesOtherEntities: z
      .literal(true)
      .optional()
      .describe('It has search_siem: its model may see rows of other entities than the one it judges.'),
    warnings: z.array(Warning).optional(),
    rationale: z.string().optional(),
    sourceItemIds: z.array(z.string()).optional(),
    technique: z.string().nullable().optional().describe('Of a suggestion: the ATT&CK technique that it looks for.'),
    evidence: z.array(Evidence).optional(),
    estimate: Estimate.nullable().optional().describe('Of a suggestion; null as long as none was made.'),
    dismissReason: z.enum(dismissReasons).optional(),
    dismissNote: z.string().optional(),
  })
  .meta({ id: 'Detection' });
export type Detection = z.infer<typeof Detection>;

export const DetectionList = z.object({
  detections: z.array(Detection),
  nextCursor: z.string().nullable().optional().describe('Only where `limit` or `cursor` was given.'),
});
export type DetectionList = z.infer<typeof DetectionList>;

export const SuggestionList = z.object({ suggestions: z.array(Detection), nextCursor: z.string().nullable() });
export type SuggestionList = z.infer<typeof SuggestionList>;

export const DismissedList = z.object({ suggestions: z.array(Detection) });
export type DismissedList = z.infer<typeof DismissedList>;

export const AgentList = z.object({ agents: z.array(Detection), nextCursor: z.string().nullable() });
export type AgentList = z.infer<typeof AgentList>;
