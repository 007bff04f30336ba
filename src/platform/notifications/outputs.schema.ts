import { z } from 'zod';
import { ignoreFields } from '../lib/schema-parts.ts';
import { PageQuery } from '../lib/page-request.ts';
import { boundedString } from '../lib/text/bounded-text.ts';
import { eventSeverities, eventTypes } from './event-types.ts';

export const outputKinds = ['webhook', 'slack', 'teams'] as const;
export type OutputKind = (typeof outputKinds)[number];

const time = z.string().describe('ISO 8601, UTC, with milliseconds.');
const id = z.guid('must be a UUID').toLowerCase();

const fields = {
  name: boundedString({ min: 1, max: 255 }),
  url: boundedString({ min: 1, max: 2000 }).describe('https, or http if the host is listed in TOCSIN_FETCH_ALLOW.'),
  eventTypes: z.array(z.enum(eventTypes)).min(1).max(eventTypes.length),
  detectionIds: z
    .array(id)
    .min(1)
    .max(10_000)
    .nullable()
    .describe('Send only events of these detections. null means all. Events of feed items are always sent.'),
  minSeverity: z
    .enum(eventSeverities)
    .nullable()
    .describe('Leave out hits and feed items below this severity. null means no minimum.'),
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

/** Absent fields stay unchanged. Read-only fields are ignored, so a GET response can be sent back. */
export const UpdateOutput = ignoreFields(readOnly, z.strictObject(fields).partial());
export type UpdateOutput = z.infer<typeof UpdateOutput>;

export const Output = z
  .object({
    id: z.string(),
    kind: z.enum(outputKinds),
    name: z.string(),
    url: z.string().describe('For Slack and Teams only the origin: the rest is a secret.'),
    eventTypes: z.array(z.enum(eventTypes)),
    detectionIds: z.array(z.string()).nullable(),
    minSeverity: z.enum(eventSeverities).nullable(),
    enabled: z.boolean(),
    disabledReason: z
      .string()
      .nullable()
      .describe('Why the service disabled the destination, for example a 410 response.'),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'Output' });
export type Output = z.infer<typeof Output>;

export const OutputWithSecret = Output.extend({
  secret: z.string().nullable().describe('The secret of a webhook (`whsec_…`), shown only once. null for other kinds.'),
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
    .describe('How long deliveries are also signed with the old secret.'),
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
    eventId: z.string().describe('Also sent as `webhook-id`. The same on every attempt.'),
    eventType: z.string(),
    resourceId: z.string(),
    state: z.enum(deliveryStates),
    tries: z.int(),
    nextTryAt: time.nullable(),
    lastTryAt: time.nullable(),
    lastStatus: z.int().nullable().describe('HTTP status of the last response, or null if there was none.'),
    lastError: z.string().nullable(),
    lastMs: z.int().nullable(),
    createdAt: time,
  })
  .meta({ id: 'Delivery' });
export type Delivery = z.infer<typeof Delivery>;

export const DeliveryList = z.object({ deliveries: z.array(Delivery), nextCursor: z.string().nullable() });
export type DeliveryList = z.infer<typeof DeliveryList>;
