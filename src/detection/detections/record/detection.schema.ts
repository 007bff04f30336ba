import { z } from 'zod';
import { recordShape } from './field-types.ts';

export const dismissReasons = ['duplicate', 'noisy', 'no_data', 'not_relevant', 'other'] as const;
const builtInAgentTypes = ['threat-relevancy', 'threat-research'] as const;

const Time = z.string().meta({ format: 'date-time' });

/** What can start a run of an agent. */
export const triggerSources = [
  'cron',
  'hit.created',
  'incident.created',
  'incident.updated',
  'incident.closed',
  'webhook',
] as const;

const TriggerSummary = z.object({
  id: z.string(),
  source: z.enum(triggerSources),
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

/** A reason why a detection cannot run as it is. A run would fail with the same text. */
export const Warning = z.object({ code: z.string(), field: z.string(), detail: z.string() });
export type Warning = z.infer<typeof Warning>;

/** The passage of a feed item that a suggestion is based on. */
export const Evidence = z.object({
  itemId: z.string(),
  evidenceRef: z.string().describe('`provenance.supportingPassages[n]` of the item.'),
});
export type Evidence = z.infer<typeof Evidence>;

/** The hits that a detection would have raised on the organization's own logs, judged by the built-in analyst. */
export const Estimate = z
  .object({
    from: Time,
    to: Time.describe('End of the last window that was examined.'),
    windows: z.int(),
    rowsTotal: z.int(),
    candidates: z.int(),
    hits: z.int(),
    hitsPerDay: z.number(),
    complete: z.boolean().describe('false: the time limit was reached before all windows were examined.'),
  })
  .meta({ id: 'Estimate' });
export type Estimate = z.infer<typeof Estimate>;

/**
 * The record of an agent. The interface specification fixes the fields up to `avgEvalScore30d` and their order. The fields
 * after it are this service's own and optional.
 */
export const Detection = z
  .object({
    id: z.string(),
    organizationId: z.string(),
    name: recordShape.name,
    description: recordShape.description,
    createdAt: Time,
    updatedAt: Time,
    deletedAt: Time.nullable(),
    toolNames: recordShape.toolNames,
    inputs: recordShape.inputs,
    modelAlias: recordShape.modelAlias,
    planningMode: recordShape.planningMode,
    mode: recordShape.mode,
    agentType: z.enum(['response', 'detection']),
    isBuiltIn: z.boolean(),
    builtInAgentType: z.enum(builtInAgentTypes).describe('Meaningful only if `isBuiltIn` is true.'),
    cronSchedule: z
      .string()
      .nullable()
      .describe(
        'The cron expression that applies: the custom one, else that of the cadence. In UTC unless `cronTimezone` is set.',
      ),
    enabled: recordShape.enabled,
    contextDocs: recordShape.contextDocs,
    workflowStoryImportId: z.string().nullable(),
    triggerSummary: z.array(TriggerSummary),
    structuredOutputSchema: recordShape.structuredOutputSchema,
    tags: recordShape.tags,
    detectionCategory: recordShape.detectionCategory,
    detectionQuery: recordShape.detectionQuery,
    siemType: recordShape.siemType,
    isSuggestion: z.boolean(),
    lastDetectionRunAt: Time.nullable(),
    activeSystemPrompt: SystemPrompt,
    runs30d: z.int(),
    hits30d: z.int(),
    avgEvalScore30d: z.number().min(0).max(100).nullable(),
  })
  .extend({
    // The fields listed above keep their place.
    ...recordShape,
    revision: z.int().optional().describe('Revision of the whole definition. Each run records the revision it used.'),
    reviews: z
      .object({ truePositive: z.int(), benign: z.int(), falsePositive: z.int(), precision: z.number().min(0).max(1) })
      .optional()
      .describe('Reviews of its hits by people. Precision is the share of true positives.'),
    disabledReason: z.string().optional().describe('Why the service disabled the detection.'),
    seesOtherEntities: z
      .literal(true)
      .optional()
      .describe(
        'The detection has a tool such as search_logs, so its model may read rows of entities other than the one it judges.',
      ),
    warnings: z.array(Warning).optional(),
    rationale: z.string().optional(),
    sourceItemIds: z.array(z.string()).optional(),
    technique: z.string().nullable().optional().describe('For a suggestion: the ATT&CK technique it detects.'),
    evidence: z.array(Evidence).optional(),
    estimate: Estimate.nullable().optional().describe('For a suggestion. Null until an estimate has been made.'),
    dismissReason: z.enum(dismissReasons).optional(),
    dismissNote: z.string().optional(),
  })
  .meta({ id: 'Detection' });
export type Detection = z.infer<typeof Detection>;

export const DetectionList = z.object({
  detections: z.array(Detection),
  nextCursor: z.string().nullable().optional().describe('Present only if the request has `limit` or `cursor`.'),
  warnings: z.array(Warning).optional().describe('Query parameters that do not exist.'),
});
export type DetectionList = z.infer<typeof DetectionList>;

export const SuggestionList = z.object({ suggestions: z.array(Detection), nextCursor: z.string().nullable() });
export type SuggestionList = z.infer<typeof SuggestionList>;

export const DismissedList = z.object({ suggestions: z.array(Detection) });
export type DismissedList = z.infer<typeof DismissedList>;

export const AgentList = z.object({ agents: z.array(Detection), nextCursor: z.string().nullable() });
export type AgentList = z.infer<typeof AgentList>;
