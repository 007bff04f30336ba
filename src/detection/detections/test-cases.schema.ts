import { z } from 'zod';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';

const eventsMax = 1000;
const Event = z.record(z.string(), z.unknown());
const Events = z
  .union([z.array(Event).max(eventsMax), z.record(z.string(), z.array(Event).max(eventsMax))], {
    error: `must be a list of at most ${eventsMax} events, or an object of such lists by dataset`,
  })
  .describe('A list for a query on one dataset, or lists by dataset.');

export const TestCase = z.strictObject({
  name: boundedString({ min: 1, max: 255 }),
  events: Events,
  history: Events.optional().describe('Earlier events, for categories that compare with the past.'),
  expect: z
    .array(boundedString({ min: 1, max: 1000 }))
    .max(1000)
    .describe('The entities that must be hits. An empty list expects no hit.'),
});
export type TestCase = z.infer<typeof TestCase>;

export const TestSet = z
  .strictObject({
    tests: z.array(TestCase).max(100),
    localQuery: boundedString({ min: 1, max: 100_000 })
      .nullable()
      .optional()
      .describe('The query in SQL for the embedded log store, for a detection on another SIEM.'),
  })
  .refine(({ tests }) => new Set(tests.map(({ name }) => name)).size === tests.length, {
    message: 'test names must be unique',
    path: ['tests'],
  })
  .meta({ id: 'TestSet' });
export type TestSet = z.infer<typeof TestSet>;
