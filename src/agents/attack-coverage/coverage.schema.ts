import { z } from 'zod';
import { integerMeta } from '../../platform/lib/schema-parts.ts';
import { RehearsalResult } from '../rehearsals/rehearsals.schema.ts';
import { detectionHealths } from '../../detection/detections/summaries/summaries.schema.ts';

const time = z.string().meta({ format: 'date-time' });

export const CoverageQuery = z.object({
  days: z
    .string()
    .regex(/^([1-9]\d?|[12]\d\d|3[0-5]\d|36[0-5])$/, 'must be a whole number from 1 to 365')
    .meta(integerMeta(1, 365))
    .optional()
    .describe('Age of the feed items that count as threats, in days, 1 to 365. Default: 90.'),
});
export type CoverageQuery = z.infer<typeof CoverageQuery>;

const CoveringDetection = z.object({
  id: z.string(),
  name: z.string(),
  health: z.enum(detectionHealths),
  weight: z.number().describe('How far the detection can be relied on, 0 to 1.'),
  reasons: z.array(z.string()).describe('Why the weight is below 1.'),
});

export const Coverage = z
  .object({
    at: time,
    since: time.describe('Start of the time whose feed items count.'),
    tactics: z
      .array(z.object({ id: z.string(), name: z.string(), shortName: z.string() }))
      .describe('In the order of an intrusion.'),
    techniques: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        tactics: z.array(z.string()).describe('Short names.'),
        parentId: z.string().nullable().describe('The technique of a sub-technique.'),
        score: z
          .number()
          .describe('Coverage by its own detections, 0 to 1: 1 minus the product of their remaining weights.'),
        groupScore: z.number().describe('The same with the detections of its sub-techniques.'),
        detections: z.array(CoveringDetection).describe('The heaviest first, at most 20.'),
        detectionCount: z.int(),
        threats: z
          .object({
            items: z.int().describe('Relevant items that mention the technique or a sub-technique of it.'),
            latest: z.object({ id: z.string(), title: z.string(), addedToFeedAt: time }),
          })
          .nullable()
          .describe('Null without such an item, or if the key lacks the scope `feed:read`.'),
        rehearsed: RehearsalResult.nullable().describe(
          'What its last rehearsal showed, beside what the tags of detections say. Null if it was not rehearsed.',
        ),
        suggestionIds: z.array(z.string()).describe('Open suggestions for the technique, at most 20.'),
      }),
    ),
    profile: z.enum(['none', 'set']).describe('`none`: every item counts as relevant.'),
    isComplete: z.boolean().describe('false: more than 20,000 items are that new, and the newest were read.'),
  })
  .meta({ id: 'Coverage' });
export type Coverage = z.infer<typeof Coverage>;
export type CoveredTechnique = Coverage['techniques'][number];

export const NavigatorLayer = z.object({
  name: z.string(),
  description: z.string(),
  versions: z.object({ attack: z.string(), navigator: z.string(), layer: z.string() }),
  domain: z.string(),
  techniques: z.array(
    z.object({
      techniqueID: z.string(),
      score: z.int(),
      color: z.string().optional(),
      comment: z.string(),
      enabled: z.boolean(),
      showSubtechniques: z.boolean(),
      metadata: z.array(z.object({ name: z.string(), value: z.string() })),
    }),
  ),
  gradient: z.object({ colors: z.array(z.string()), minValue: z.int(), maxValue: z.int() }),
  legendItems: z.array(z.object({ label: z.string(), color: z.string() })),
});
export type NavigatorLayer = z.infer<typeof NavigatorLayer>;
