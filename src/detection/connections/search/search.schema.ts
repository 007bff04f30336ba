import { z } from 'zod';
import { Instant } from '../../../platform/lib/schema-parts.ts';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';

export const searchRowsMax = 1000;

export const SearchInput = z.strictObject({
  query: boundedString({ min: 1, max: 100_000 }).describe(
    'As in a detection: SQL for the embedded store, which reads datasets by name, or the language of the connection.',
  ),
  from: Instant.describe('Start of the window, on event time.'),
  to: Instant.describe('End of the window. Not included.'),
  connectionId: z
    .guid('must be a UUID')
    .toLowerCase()
    .optional()
    .describe('Connection to search. Default: the embedded store.'),
  limit: z.int().min(1).max(searchRowsMax).default(200).describe('Most rows to return.'),
});
export type SearchInput = z.infer<typeof SearchInput>;

export const SearchRows = z.object({
  columns: z.array(z.string()).describe('In the order of the query, as far as it is known.'),
  rows: z.array(z.record(z.string(), z.unknown())).describe('Values are JSON values, times are ISO 8601 text.'),
  total: z.int().describe('Rows that the query found. A SIEM may count only those that it returned.'),
  truncated: z.boolean().describe('There are more rows than `limit`, or they are larger than 8 MiB.'),
  aggregate: z.boolean().describe('The rows are groups, not events.'),
  noData: z.boolean().describe('A dataset of the query never had an event.'),
  ms: z.number(),
  warnings: z.array(z.object({ code: z.string(), detail: z.string() })),
});
export type SearchRows = z.infer<typeof SearchRows>;
