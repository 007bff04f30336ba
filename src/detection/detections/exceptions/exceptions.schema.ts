import { z } from 'zod';
import { ActorField } from '../../../platform/orgs/orgs.schema.ts';
import { Instant } from '../../../platform/lib/schema-parts.ts';
import { severities } from '../../analysis/candidate.ts';
import { IdPath } from '../record/detection-input.schema.ts';
import { ValueListName } from '../../analysis/tuning.schema.ts';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';

/** Written by the room of hits, which this one may not import. */
const hitStatuses = ['open', 'false_positive', 'benign', 'true_positive', 'outdated'] as const;

const Time = z.string().meta({ format: 'date-time' });
const entity = boundedString({ min: 1, max: 1000 });

const subject = {
  entity: entity.optional().describe('Applies only to this entity. Case does not matter, and `*` stands for any text.'),
  field: boundedString({ min: 1, max: 255 }).optional(),
  value: boundedString({ min: 1, max: 4000 })
    .optional()
    .describe(
      'Applies only if every row has this value in `field`, as a hit shows it. Case does not matter, and `*` stands for any text.',
    ),
  list: ValueListName.optional().describe(
    'Applies only if the value list has the value of `field` in every row. Without `field`: if it has the entity.',
  ),
};
const SubjectShape = z.strictObject(subject);

/** Refuses a subject that is incomplete or matches everything. */
const withSubjectChecks = <T extends z.ZodType<z.infer<typeof SubjectShape>>>(schema: T): T =>
  schema
    .refine(
      ({ field, value, list }) =>
        field === undefined ? value === undefined : (value === undefined) !== (list === undefined),
      {
        message: 'field needs value or list, and value needs field',
        path: ['value'],
      },
    )
    .refine(({ entity, field, list }) => entity !== undefined || field !== undefined || list !== undefined, {
      message: 'an exception needs entity, list, or field and value; use POST …/snooze for the whole detection',
      path: ['entity'],
    })
    .refine(
      ({ entity, field, list }) =>
        field !== undefined || list !== undefined || entity === undefined || /[^*\s]/.test(entity),
      {
        message: 'matches every entity; use POST …/snooze for the whole detection',
        path: ['entity'],
      },
    );

export const NewException = withSubjectChecks(
  z.strictObject({ ...subject, reason: boundedString({ min: 1, max: 1000 }), expiresAt: Instant.optional() }),
);
export type NewException = z.infer<typeof NewException>;

export const PreviewException = withSubjectChecks(SubjectShape);
export type PreviewException = z.infer<typeof PreviewException>;

export const ExceptionPreview = z
  .object({
    from: Time.describe('Start of the 30 days whose hits were examined.'),
    examined: z.int().describe('Hits raised since then.'),
    isComplete: z.boolean().describe('false: there are more than 1,000, and the newest were examined.'),
    hidden: z.int().describe('Hits that the exception would have hidden.'),
    hiddenByStatus: z.partialRecord(z.enum(hitStatuses), z.int()),
    hits: z
      .array(
        z.object({
          id: z.string(),
          entity: z.string(),
          headline: z.string(),
          severity: z.enum(severities),
          status: z.enum(hitStatuses),
          createdAt: Time,
        }),
      )
      .describe('The newest of these, at most 50.'),
  })
  .meta({ id: 'ExceptionPreview' });
export type ExceptionPreview = z.infer<typeof ExceptionPreview>;

export const Snooze = z.strictObject({
  until: Instant,
  entity: entity.optional().describe('Applies only to this entity. If absent, to the whole detection.'),
  reason: boundedString({ min: 1, max: 1000 }).optional(),
});
export type Snooze = z.infer<typeof Snooze>;

export const DetectionException = z
  .object({
    id: z.string(),
    kind: z.enum(['exception', 'snooze']),
    entity: z.string().nullable(),
    field: z.string().nullable(),
    value: z.string().nullable(),
    list: z.string().nullable(),
    reason: z.string(),
    keyId: z.string().nullable(),
    actor: ActorField,
    createdAt: Time,
    expiresAt: Time.nullable(),
    active: z.boolean(),
    matches: z.int().describe('Number of findings that it muted.'),
    lastMatchedAt: Time.nullable(),
    warnings: z
      .array(z.object({ code: z.string(), field: z.string(), detail: z.string() }))
      .optional()
      .describe('Why it would mute none of the latest findings. Absent if it has muted one or nothing was found yet.'),
  })
  .meta({ id: 'Exception' });
export type DetectionException = z.infer<typeof DetectionException>;

export const ExceptionList = z.object({ exceptions: z.array(DetectionException), nextCursor: z.string().nullable() });
export type ExceptionList = z.infer<typeof ExceptionList>;

export const ExceptionPath = IdPath.extend({ exceptionId: IdPath.shape.id });
