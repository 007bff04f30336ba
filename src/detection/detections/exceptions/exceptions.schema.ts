import { z } from 'zod';
import { Instant } from '../../../platform/lib/instant.ts';
import { text } from '../../../platform/lib/text/bounded-text.ts';

const Time = z.string().meta({ format: 'date-time' });
const entity = text({ min: 1, max: 1000 });

export const NewException = z
  .strictObject({
    entity: entity.optional().describe('Only this entity, exactly.'),
    field: text({ min: 1, max: 255 }).optional(),
    value: text({ min: 1, max: 4000 })
      .optional()
      .describe('Only where every row has this in `field`, exactly as a hit shows it.'),
    reason: text({ min: 1, max: 1000 }),
    expiresAt: Instant.optional(),
  })
  .refine(({ field, value }) => (field === undefined) === (value === undefined), {
    message: 'field and value are given together',
    path: ['value'],
  })
  .refine(({ entity, field }) => entity !== undefined || field !== undefined, {
    message: 'an exception names an entity, or a field with its value; POST …/snooze quiets the whole detection',
    path: ['entity'],
  });
export type NewException = z.infer<typeof NewException>;

export const Snooze = z.strictObject({
  until: Instant,
  entity: entity.optional().describe('Only this entity; absent: the whole detection.'),
  reason: text({ min: 1, max: 1000 }).optional(),
});
export type Snooze = z.infer<typeof Snooze>;

export const DetectionException = z
  .object({
    id: z.string(),
    kind: z.enum(['exception', 'snooze']),
    entity: z.string().nullable(),
    field: z.string().nullable(),
    value: z.string().nullable(),
    reason: z.string(),
    keyId: z.string().nullable(),
    createdAt: Time,
    expiresAt: Time.nullable(),
    active: z.boolean(),
  })
  .meta({ id: 'Exception' });
export type DetectionException = z.infer<typeof DetectionException>;

export const ExceptionList = z.object({ exceptions: z.array(DetectionException), nextCursor: z.string().nullable() });
export type ExceptionList = z.infer<typeof ExceptionList>;

export const ExceptionPath = z.object({
  id: z.guid('must be a UUID').toLowerCase(),
  exceptionId: z.guid('must be a UUID').toLowerCase(),
});
