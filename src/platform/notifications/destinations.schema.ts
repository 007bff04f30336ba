import { z } from 'zod';
import { days, ignoreFields, TimeOfDay, TimeZone } from '../lib/schema-parts.ts';
import { describeFields } from '../lib/kind-fields.ts';
import { PageQuery } from '../lib/page-request.ts';
import { boundedString } from '../lib/text/bounded-text.ts';
import { kindNames, kindOf } from './destination-kinds.ts';
import { eventSeverities, eventTypes } from './event-types.ts';

const Kind = z.enum(kindNames);

const time = z.string().describe('ISO 8601, UTC, with milliseconds.');
const id = z.guid('must be a UUID').toLowerCase();

const fields = {
  name: boundedString({ min: 1, max: 255 }),
  url: boundedString({ min: 1, max: 2000 }).describe('https, or http if the host is listed in TOCSIN_FETCH_ALLOW.'),
  settings: z
    .record(z.string(), z.unknown())
    .describe('Settings of this kind of destination: see GET /api/destination-kinds.'),
  credentials: z
    .record(z.string(), z.unknown())
    .describe(
      'Credentials for this kind of destination. Stored encrypted and never returned. Required again when the host changes.',
    ),
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
    .describe(
      'Leave out events below this severity. null means no minimum. This and the filters below do not apply to a resource whose ticket or alert is open.',
    ),
  tags: z
    .array(boundedString({ min: 1, max: 100 }))
    .min(1)
    .max(50)
    .nullable()
    .describe('Send only hits of detections with one of these tags, among other events. null means all.'),
  entityLists: z
    .array(boundedString({ min: 1, max: 100 }))
    .min(1)
    .max(10)
    .nullable()
    .describe(
      'Send only hits whose entity is in one of these value lists, and incidents with such a hit, among other events. null means all.',
    ),
  hours: z
    .strictObject({
      timeZone: TimeZone,
      days: z
        .array(z.enum(days))
        .min(1)
        .max(7)
        .default([...days])
        .describe('Default: every day.'),
      from: TimeOfDay,
      to: TimeOfDay.describe('If it is not later than `from`, the hours end on the next day.'),
    })
    .nullable()
    .describe(
      'Send only events that happen within these hours, and the digest. Others are not sent later. null means always.',
    ),
  enabled: z.boolean(),
};

export const CreateDestination = z.strictObject({
  kind: Kind,
  name: fields.name,
  url: fields.url.optional().describe(`${fields.url.description} Absent: the usual address of the kind.`),
  settings: fields.settings.default({}),
  credentials: fields.credentials.default({}),
  eventTypes: fields.eventTypes.optional().describe('Absent: `defaultEvents` of the kind.'),
  detectionIds: fields.detectionIds.default(null),
  minSeverity: fields.minSeverity.default(null),
  tags: fields.tags.default(null),
  entityLists: fields.entityLists.default(null),
  hours: fields.hours.default(null),
  enabled: fields.enabled.default(true),
});
export type CreateDestination = z.infer<typeof CreateDestination>;

const readOnly = ['id', 'kind', 'disabledReason', 'ticketsError', 'createdAt', 'updatedAt', 'secret'];

/** Absent fields stay unchanged. Read-only fields are ignored, so a GET response can be sent back. */
export const UpdateDestination = ignoreFields(readOnly, z.strictObject(fields).partial());
export type UpdateDestination = z.infer<typeof UpdateDestination>;

export const Destination = z
  .object({
    id: z.string(),
    kind: Kind,
    name: z.string(),
    url: z.string().describe('For Slack and Teams only the origin: the rest is a secret.'),
    settings: fields.settings,
    eventTypes: z.array(z.enum(eventTypes)),
    detectionIds: z.array(z.string()).nullable(),
    minSeverity: z.enum(eventSeverities).nullable(),
    tags: z.array(z.string()).nullable(),
    entityLists: z.array(z.string()).nullable(),
    hours: fields.hours,
    enabled: z.boolean(),
    disabledReason: z
      .string()
      .nullable()
      .describe('Why the service disabled the destination, for example a 410 response.'),
    ticketsError: z
      .string()
      .nullable()
      .describe('Why comments on tickets could not be read the last time. null if they could, or are not read.'),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'Destination' });
export type Destination = z.infer<typeof Destination>;

export const DestinationWithSecret = Destination.extend({
  secret: z.string().nullable().describe('The secret of a webhook (`whsec_…`), shown only once. null for other kinds.'),
  code: z.literal('secret_already_shown').optional(),
});
export type DestinationWithSecret = z.infer<typeof DestinationWithSecret>;

export const DestinationList = z.object({ destinations: z.array(Destination), nextCursor: z.string().nullable() });
export type DestinationList = z.infer<typeof DestinationList>;

export const DestinationKindList = z.object({
  kinds: z.array(
    z.object({
      kind: Kind,
      label: z.string(),
      urlHint: z.string().describe('Which address the kind needs.'),
      defaultUrl: z.string().nullable().describe('The address that is used if none is given, or null.'),
      isSigned: z.boolean().describe('Deliveries are signed with a secret, which can be rotated.'),
      keepsTickets: z
        .boolean()
        .describe('One alert or ticket per resource, which is updated, and closed with the resource.'),
      settings: z.record(z.string(), z.unknown()).describe('A JSON schema.'),
      credentials: z.record(z.string(), z.unknown()).describe('A JSON schema.'),
      defaultEvents: z.array(z.enum(eventTypes)).describe('Events of a new destination that selects none.'),
    }),
  ),
});

/** Lists every kind of destination, with what a form shows of it. */
export const listDestinationKinds = (): z.infer<typeof DestinationKindList> => ({
  kinds: kindNames.map((kind) => {
    const { label, urlHint, defaultUrl, isSigned, keepsTickets, settings, credentials, defaultEvents } = kindOf(kind);
    return {
      kind,
      label,
      urlHint,
      defaultUrl,
      isSigned,
      keepsTickets,
      settings: describeFields(settings),
      credentials: describeFields(credentials),
      defaultEvents: [...defaultEvents],
    };
  }),
});

export const RotateSecret = z.strictObject({
  overlapSeconds: z
    .int()
    .min(0)
    .max(30 * 86_400)
    .default(86_400)
    .describe('How long deliveries are also signed with the old secret.'),
});
export type RotateSecret = z.infer<typeof RotateSecret>;

export const IdPath = z.object({ id });
export const DeliveryPath = z.object({ id, deliveryId: id });

export const deliveryStates = ['pending', 'delivered', 'failed'] as const;
export const DeliveryFilter = PageQuery.extend({ state: z.enum(deliveryStates).optional() });
export type DeliveryFilter = z.infer<typeof DeliveryFilter>;

export const Delivery = z
  .object({
    id: z.string(),
    destinationId: z.string(),
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
