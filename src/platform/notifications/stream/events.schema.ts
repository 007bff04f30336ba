import { z } from 'zod';
import { PageQuery } from '../../lib/page-request.ts';
import { boundedString } from '../../lib/text/bounded-text.ts';
import { eventTypes, isEventType } from '../event-types.ts';

export const EventsQuery = PageQuery.extend({
  types: boundedString({ min: 1, max: 1000 })
    .refine((text) => text.split(',').every(isEventType), 'must be event types separated by commas')
    .optional()
    .describe(`Event types, separated by commas. Default: all that the key may read. Known: ${eventTypes.join(', ')}.`),
});
export type EventsQuery = z.infer<typeof EventsQuery>;

export const Event = z
  .object({
    id: z.string(),
    type: z.string(),
    timestamp: z.string().meta({ format: 'date-time' }),
    organizationId: z.string(),
    revision: z.int().describe('Increases with every change of the resource.'),
    data: z.record(z.string(), z.unknown()).describe('The resource after the change, as its own route returns it.'),
  })
  .meta({ id: 'Event' });

export const EventTypeList = z.object({
  eventTypes: z.array(
    z.object({
      type: z.enum(eventTypes),
      label: z.string(),
      subject: z.string().describe('What a list of types groups it under.'),
      isStreamed: z.boolean().describe('Stored for clients of `GET /api/events`, not only for destinations.'),
    }),
  ),
});

export const EventList = z.object({ events: z.array(Event), nextCursor: z.string().nullable() });
export type EventList = z.infer<typeof EventList>;
