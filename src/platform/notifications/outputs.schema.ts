import { z } from 'zod';
import { PageQuery } from '../lib/page-request.ts';
import { text } from '../lib/text/bounded-text.ts';
import { eventSeverities, eventTypes } from './event-types.ts';

export const outputKinds = ['webhook', 'slack', 'teams'] as const;
export type OutputKind = (typeof outputKinds)[number];

const time = z.string().describe('ISO 8601, UTC, with milliseconds.');
const id = z.guid('must be a UUID').toLowerCase();

const fields = {
  name: text({ min: 1, max: 255 }),
  url: text({ min: 1, max: 2000 }).describe('https; http only where TOCSIN_FETCH_ALLOW names the host.'),
  eventTypes: z.array(z.enum(eventTypes)).min(1).max(eventTypes.length),
  detectionIds: z
    .array(id)
    .min(1)
    .max(10_000)
    .nullable()
    .describe('Events of these detections only; null: of all. Feed items belong to none and always count.'),
  minSeverity: z
    .enum(eventSeverities)
    .nullable()
    .describe('Hits and feed items below it are left out; null: none are.'),
  enabled: z.boolean(),
};

export const CreateOutput = z.strictObject({
  kind: z.enum(outputKinds),
  name: fields.name,
  url: fields.url,
  eventTypes: fields.eventTypes.default(['hit.created', 'hit.updated']),
  detectionIds: fields.detectionIds.default(null),
  minSeverity: fields.minSeverity.default(null),
  enabled: fields.enabled.default(true),
});
export type CreateOutput = z.infer<typeof CreateOutput>;

const readOnly = ['id', 'kind', 'disabledReason', 'createdAt', 'updatedAt', 'secret'];

/** Absent means unchanged; what GET gave may be sent back. */
export const UpdateOutput = z.preprocess((value) => {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !readOnly.includes(key)));
}, z.strictObject(fields).partial());
export type UpdateOutput = z.infer<typeof UpdateOutput>;

export const Output = z
  .object({
    id: z.string(),
    kind: z.enum(outputKinds),
    name: z.string(),
    url: z.string().describe('Of Slack and Teams the host only: the rest is a secret.'),
    eventTypes: z.array(z.enum(eventTypes)),
    detectionIds: z.array(z.string()).nullable(),
    minSeverity: z.enum(eventSeverities).nullable(),
    enabled: z.boolean(),
    disabledReason: z.string().nullable().describe('Why the service switched it off: the address answered 410.'),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'Output' });
export type Output = z.infer<typeof Output>;

export const OutputWithSecret = Output.extend({
  secret: z.string().nullable().describe('Of a webhook: `whsec_…`, shown this once. Null for the other kinds.'),
  code: z.literal('secret_already_shown').optional(),
});
export type OutputWithSecret = z.infer<typeof OutputWithSecret>;

export const OutputList = z.object({ outputs: z.array(Output), nextCursor: z.string().nullable() });
export type OutputList = z.infer<typeof OutputList>;

export const RotateSecret = z.strictObject({
  overlapSeconds: z
    .int()
    .min(0)
    .max(30 * 86_400)
    .default(86_400)
    .describe('How long deliveries are signed with the old secret, too.'),
});
export type RotateSecret = z.infer<typeof RotateSecret>;

export const OutputPath = z.object({ id });
export const DeliveryPath = z.object({ id, deliveryId: id });

export const deliveryStates = ['pending', 'delivered', 'failed'] as const;
export const DeliveryFilter = PageQuery.extend({ state: z.enum(deliveryStates).optional() });
export type DeliveryFilter = z.infer<typeof DeliveryFilter>;

export const Delivery = z
  .object({
    id: z.string(),
    outputId: z.string(),
    eventId: z.string().describe('Also the `webhook-id`: the same on every try.'),
    eventType: z.string(),
    resourceId: z.string(),
    state: z.enum(deliveryStates),
    tries: z.int(),
    nextTryAt: time.nullable(),
    lastTryAt: time.nullable(),
    lastStatus: z.int().nullable().describe('HTTP status of the last answer; null where there was none.'),
    lastError: z.string().nullable(),
    lastMs: z.int().nullable(),
    createdAt: time,
  })
  .meta({ id: 'Delivery' });
export type Delivery = z.infer<typeof Delivery>;

export const DeliveryList = z.object({ deliveries: z.array(Delivery), nextCursor: z.string().nullable() });
export type DeliveryList = z.infer<typeof DeliveryList>;
