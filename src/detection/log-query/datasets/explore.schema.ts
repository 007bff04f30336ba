import { z } from 'zod';
import { integerMeta, Instant } from '../../../platform/lib/schema-parts.ts';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';

export const ExploreQuery = z.object({
  from: Instant.optional().describe('Default: one day before `to`.'),
  to: Instant.optional().describe('Default: now. The window is on event time and at most 366 days.'),
  where: boundedString({ min: 1, max: 10_000 })
    .optional()
    .describe("An SQL condition on the events, such as `user = 'ada'`."),
});
export type ExploreQuery = z.infer<typeof ExploreQuery>;

const bucketsText = z
  .string()
  .regex(/^([1-9]\d?|[1-4]\d\d|500)$/, 'must be a whole number from 1 to 500')
  .meta(integerMeta(1, 500));

export const HistogramQuery = ExploreQuery.extend({
  buckets: bucketsText.optional().describe('Most buckets to return, 1 to 500. Default: 120.'),
});
export type HistogramQuery = z.infer<typeof HistogramQuery>;

const time = z.string().meta({ format: 'date-time' });

export const Histogram = z.object({
  dataset: z.string(),
  from: time,
  to: time,
  stepSeconds: z.int().describe('Length of a bucket. Buckets start at multiples of it since 1970.'),
  total: z.int(),
  buckets: z
    .array(z.object({ at: time, events: z.int() }))
    .describe('Every bucket of the window, empty ones included.'),
});
export type Histogram = z.infer<typeof Histogram>;

export const FieldStatistics = z.object({
  dataset: z.string(),
  from: time,
  to: time,
  events: z.int().describe('Events of the window that match.'),
  sampled: z.int().describe('The newest of them, from which the figures come. At most 5,000.'),
  fields: z
    .array(
      z.object({
        name: z.string().describe('As a query uses it. Keys inside objects are dotted.'),
        type: z.string(),
        present: z.number().describe('Share of the sampled events with a value, 0 to 1.'),
        distinct: z.int().nullable().describe('Different values in the sample. Null for objects, times and ids.'),
        top: z
          .array(z.object({ value: z.string(), events: z.int() }))
          .describe('The most frequent values as text, cut to 200 characters. At most 10.'),
      }),
    )
    .describe('In the order of the columns, at most 300.'),
  isComplete: z.boolean().describe('false: the dataset has more than 300 columns.'),
});
export type FieldStatistics = z.infer<typeof FieldStatistics>;
