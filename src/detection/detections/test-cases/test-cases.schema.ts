import { z } from 'zod';
import { text } from '../../../platform/lib/text/bounded-text.ts';

const eventsMax = 1000;
const Event = z.record(z.string(), z.unknown());
const Events = z
  .union([z.array(Event).max(eventsMax), z.record(z.string(), z.array(Event).max(eventsMax))], {
    error: `must be a list of at most ${eventsMax} events, or such lists by dataset`,
  })
  .describe('A list, for a query of one dataset, or lists by dataset.');

export const TestCase = z.strictObject({
  name: text({ min: 1, max: 255 }),
  events: Events,
  history: Events.optional().describe('What happened before, for categories that compare with the past.'),
  expect: z
    .array(text({ min: 1, max: 1000 }))
    .max(1000)
    .describe('The entities that are to be hits; none: no hit.'),
});
export type TestCase = z.infer<typeof TestCase>;

export const TestSet = z
  .strictObject({
    tests: z.array(TestCase).max(100),
    localQuery: text({ min: 1, max: 100_000 })
      .nullable()
      .optional()
      .describe('The query in the SQL of the embedded log store, for a detection of another SIEM.'),
  })
  .refine(({ tests }) => new Set(tests.map(({ name }) => name)).size === tests.length, {
    message: 'every test has a name of its own',
    path: ['tests'],
  })
  .meta({ id: 'TestSet' });
export type TestSet = z.infer<typeof TestSet>;
