import { z } from 'zod';
import { detectionCategories } from '../../analysis/registry.ts';
import { PageQuery } from '../../../platform/lib/page-request.ts';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';
import { Detection, dismissReasons } from './detection.schema.ts';
import { createShape, updateShape } from './field-types.ts';
import { ignoreFields, Instant } from '../../../platform/lib/schema-parts.ts';

/**
 * Returns the schema of a body with exactly these fields. Record fields that the body cannot set are dropped, so that a
 * client can send back a record it has read. Any other unknown field is an error.
 */
function body<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const ignored = Object.keys(Detection.shape).filter((key) => !(key in shape));
  return ignoreFields(ignored, z.strictObject(shape));
}

export const CreateDetection = body(createShape);
export type CreateDetection = z.infer<typeof CreateDetection>;

/** A create body and the time range to evaluate it on. */
export const PreviewInput = body({
  ...createShape,
  from: Instant,
  to: Instant,
});

export const CreateSuggestion = body({
  ...createShape,
  rationale: boundedString({ max: 10_000 }).optional().describe('Why this detection is suggested.'),
  sourceItemIds: z
    .array(boundedString({ min: 1, max: 200 }))
    .max(100)
    .optional()
    .describe('Feed items that the suggestion is based on.'),
  technique: z
    .string()
    .regex(/^T\d{4}(\.\d{3})?$/, 'must be an ATT&CK technique such as T1059.001')
    .optional(),
  evidence: z
    .array(
      z.strictObject({ itemId: boundedString({ min: 1, max: 200 }), evidenceRef: boundedString({ min: 1, max: 200 }) }),
    )
    .max(100)
    .optional()
    .describe('Passages of feed items that the suggestion is based on.'),
});
export type CreateSuggestion = z.infer<typeof CreateSuggestion>;

/**
 * Body of an update. An absent field is unchanged. Null resets `description`, `toolNames`, `siemType` and the two schedule
 * fields.
 */
export const UpdateDetection = body(updateShape);
export type UpdateDetection = z.infer<typeof UpdateDetection>;

/** What only detections have: the query, and what is done with its rows. */
export const detectionOnly = [
  'detectionCategory',
  'detectionQuery',
  'headline',
  'entityField',
  'timeField',
  'tuning',
  'lookbackMinutes',
  'suppressionMinutes',
  'onUndecided',
  'continuous',
] as const satisfies (keyof typeof createShape)[];
type DetectionOnly = (typeof detectionOnly)[number];

function withoutDetectionOnly<Shape extends Record<DetectionOnly, unknown>>(shape: Shape): Omit<Shape, DetectionOnly> {
  const entries = Object.entries(shape).filter(([name]) => !(detectionOnly as readonly string[]).includes(name));
  return Object.fromEntries(entries) as Omit<Shape, DetectionOnly>;
}

export const CreateAgent = body(withoutDetectionOnly(createShape));
export type CreateAgent = z.infer<typeof CreateAgent>;

export const UpdateAgent = body(withoutDetectionOnly(updateShape));
export type UpdateAgent = z.infer<typeof UpdateAgent>;

export const DismissSuggestion = z.strictObject({
  reason: z.enum(dismissReasons).optional(),
  note: boundedString({ max: 1000 }).optional(),
});
export type DismissSuggestion = z.infer<typeof DismissSuggestion>;

/** Accepts any 8-4-4-4-12 hexadecimal text, in upper or lower case. */
export const IdPath = z.object({ id: z.guid('must be a UUID').toLowerCase() });

export const ValidateQuery = z.object({
  validate: z
    .enum(['true', 'false'])
    .optional()
    .describe('true: check the query, tools and connection first. Returns 422 if the detection could not run.'),
});

export const SaveQuery = ValidateQuery.extend({
  require: z
    .enum(['tests'])
    .optional()
    .describe("tests: save only if the detection's tests pass. Returns 422 otherwise."),
});

export const AgentQuery = PageQuery.extend({
  builtIn: z.literal('true').optional().describe('List only the built-in agents.'),
  type: z.literal('response').optional().describe('List only response agents: built-in ones and others.'),
});
export type AgentQuery = z.infer<typeof AgentQuery>;

export const DetectionFilter = PageQuery.extend({
  category: z.enum(detectionCategories).optional(),
  tag: boundedString({ max: 200 }).optional(),
  enabled: z.enum(['true', 'false']).optional(),
  siemType: boundedString({ max: 1000 }).optional(),
  q: boundedString({ max: 255 }).optional().describe('Text contained in the name or the description, ignoring case.'),
});
export type DetectionFilter = z.infer<typeof DetectionFilter>;
