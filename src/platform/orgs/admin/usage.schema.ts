import { z } from 'zod';

const count = (text: string) => z.int().describe(text);

/** The usage of an organization on a UTC day. */
export const UsageDay = z
  .object({
    day: z.string().meta({ format: 'date' }),
    logEvents: count('Log events received, without repetitions.'),
    logBytes: count('Size of these events, uncompressed.'),
    logBytesStored: count('Size of the log files at the last measurement of the day.'),
    runs: count('Runs of detections that ended.'),
    querySeconds: z.number().describe('Time that the queries of completed runs took.'),
    modelTokens: count('Tokens of language models.'),
    modelCostUsd: z.number().describe('Cost of language models in US dollars.'),
    feedItems: count('Items that its feed sources added or corrected.'),
    requests: count('Requests with a valid key or session.'),
    refusedRequests: count('Requests that were answered with 429.'),
  })
  .meta({ id: 'UsageDay' });
export type UsageDay = z.infer<typeof UsageDay>;

const day = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d$/, 'must be a date such as 2026-03-31')
  .meta({ format: 'date' });

export const UsageQuery = z.object({
  from: day.optional().describe('First UTC day. Default: 29 days before `to`.'),
  to: day.optional().describe('Last UTC day. Default: today.'),
});
export type UsageQuery = z.infer<typeof UsageQuery>;

export const UsageExportQuery = UsageQuery.extend({
  format: z.enum(['ndjson', 'csv']).optional().describe('Default: `ndjson`.'),
});
export type UsageExportQuery = z.infer<typeof UsageExportQuery>;

export const UsageDays = z.object({ from: z.string(), to: z.string(), days: z.array(UsageDay) });
export type UsageDays = z.infer<typeof UsageDays>;
