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

const fieldName = boundedString({ min: 1, max: 255 });
const hitId = z.guid('must be a UUID').toLowerCase();
const fieldValue = boundedString({ min: 1, max: 4000 });
const Condition = z
  .strictObject({ field: fieldName, value: fieldValue.optional(), list: ValueListName.optional() })
  .refine(({ value, list }) => (value === undefined) !== (list === undefined), {
    message: 'a condition needs either value or list',
    path: ['value'],
  });

const subject = {
  entity: entity.optional().describe('Applies only to this entity. Case does not matter, and `*` stands for any text.'),
  field: fieldName.optional(),
  value: fieldValue
    .optional()
    .describe(
      'Applies only if every row has this value in `field`, as a hit shows it. Case does not matter, `*` stands for any text, and a network such as `10.0.0.0/8` contains its addresses.',
    ),
  list: ValueListName.optional().describe(
    'Applies only if the value list has the value of `field` in every row. Without `field`: if it has the entity.',
  ),
  conditions: z
    .array(Condition)
    .max(5)
    .optional()
    .describe('Further conditions on fields. Every row must satisfy all of them.'),
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
    .refine(({ entity, field, list, conditions = [] }) => [entity, field, list, ...conditions].some(Boolean), {
      message: 'an exception needs entity, list, or field and value; use POST …/snooze for the whole detection',
      path: ['entity'],
    })
    .refine(
      ({ entity, field, list, conditions = [] }) =>
        [field, list, ...conditions].some(Boolean) || entity === undefined || /[^*\s]/.test(entity),
      {
        message: 'matches every entity; use POST …/snooze for the whole detection',
        path: ['entity'],
      },
    );

export const NewException = withSubjectChecks(
  z.strictObject({
    ...subject,
    reason: boundedString({ min: 1, max: 1000 }),
    expiresAt: Instant.optional(),
    owner: boundedString({ min: 1, max: 255 })
      .optional()
      .describe('The name of the person who answers for it. If absent, the person who creates it.'),
    hitIds: z.array(hitId).max(100).optional().describe('The hits of the detection because of which it exists.'),
  }),
);
export type NewException = z.infer<typeof NewException>;

export const PreviewException = withSubjectChecks(SubjectShape);
export type PreviewException = z.infer<typeof PreviewException>;

const PreviewedHit = z.object({
  id: z.string(),
  entity: z.string(),
  headline: z.string(),
  severity: z.enum(severities),
  status: z.enum(hitStatuses),
  createdAt: Time,
});

export const ExceptionPreview = z
  .object({
    from: Time.describe('Start of the 30 days whose hits were examined.'),
    examined: z.int().describe('Hits raised since then.'),
    isComplete: z.boolean().describe('false: there are more than 1,000, and the newest were examined.'),
    hidden: z.int().describe('Hits that the exception would have hidden.'),
    hiddenByStatus: z.partialRecord(z.enum(hitStatuses), z.int()),
    hits: z.array(PreviewedHit).describe('The newest of these, at most 50.'),
  })
  .meta({ id: 'ExceptionPreview' });
export type ExceptionPreview = z.infer<typeof ExceptionPreview>;

export const ProposeExceptions = z.strictObject({
  hitIds: z
    .array(hitId)
    .min(1)
    .max(100)
    .optional()
    .describe(
      'Hits of the detection that an exception should hide. If absent, its false positives of the past that are most alike and that no exception hides yet.',
    ),
});
export type ProposeExceptions = z.infer<typeof ProposeExceptions>;

export const ExceptionProposals = z
  .object({
    hitIds: z.array(z.string()).describe('The hits that the proposals are for.'),
    from: Time.nullable().describe('Time of the oldest finding that the proposals were compared with. Null: none.'),
    findings: z.int().describe('Findings of the past that they were compared with, hits included.'),
    isComplete: z
      .boolean()
      .describe('false: there are more, of which the newest were compared, and all that must stay.'),
    tests: z.object({
      fire: z.int().describe('Test cases that expect a hit and find it.'),
      doNotFire: z
        .array(z.string())
        .describe('Names of those that expect a hit and do not find it without an exception either.'),
    }),
    rehearsals: z.object({
      fire: z
        .array(z.string())
        .describe('Techniques on whose rehearsal the detection fires. The rehearsals are repeated for the proposals.'),
      doNotFire: z
        .array(z.string())
        .describe(
          'Techniques on whose last rehearsal it fired, and on which it does not fire now without an exception.',
        ),
    }),
    proposals: z
      .array(
        z.object({
          exception: z.object({
            entity: z.string().optional(),
            field: z.string().optional(),
            value: z.string().optional(),
            list: z.string().optional(),
            conditions: z
              .array(z.object({ field: z.string(), value: z.string().optional(), list: z.string().optional() }))
              .optional(),
          }),
          hides: z.object({
            findings: z.int().describe('Findings of the past, the hits of `hitIds` included.'),
            others: z.int().describe('Of these, those beside the hits of `hitIds`.'),
            rows: z.int().describe('Rows of these findings.'),
            byStatus: z.partialRecord(z.enum(hitStatuses), z.int()).describe('Hits among these findings.'),
            hits: z.array(PreviewedHit).describe('The newest of these hits, at most 50.'),
          }),
          keeps: z.object({
            truePositives: z.int(),
            undecided: z.int().describe('Findings that a judge left to people and nobody decided.'),
            tests: z.int().describe('Test cases that still find what they expect.'),
            rehearsals: z.int().describe('Rehearsed techniques on which it still fires.'),
          }),
          coverage: z.array(z.string()).describe('Sentences about what is still raised.'),
        }),
      )
      .describe(
        'The narrowest first, at most five. Each keeps all true positives, undecided findings, tests and rehearsed attacks.',
      ),
    reason: z.string().nullable().describe('Why there are no proposals.'),
  })
  .meta({ id: 'ExceptionProposals' });
export type ExceptionProposals = z.infer<typeof ExceptionProposals>;

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
    conditions: z.array(z.object({ field: z.string(), value: z.string().optional(), list: z.string().optional() })),
    reason: z.string(),
    owner: z.string().nullable(),
    hitIds: z.array(z.string()),
    keyId: z.string().nullable(),
    actor: ActorField,
    createdAt: Time,
    expiresAt: Time.nullable(),
    active: z.boolean(),
    expiresSoon: z.boolean().describe('Whether it is active and ends within seven days.'),
    matches: z.int().describe('Number of findings that it muted.'),
    mutedRows: z.int().describe('Number of rows of these findings.'),
    lastMatchedAt: Time.nullable(),
    examples: z
      .array(z.object({ runId: z.string(), entity: z.string(), windowFrom: Time, windowTo: Time }))
      .describe('The findings that it muted last, at most five, latest first. Only those that are still stored.'),
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
