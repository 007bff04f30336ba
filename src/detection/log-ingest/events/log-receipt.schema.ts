import { z } from 'zod';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';

const LogWarning = z
  .object({
    code: z.enum(['undated', 'list_in_event', 'no_known_field']),
    events: z.number().int().describe('Accepted events that it concerns.'),
    line: z.number().int().describe('The first of them, counted as in `rejected`.'),
    detail: z.string(),
  })
  .meta({ id: 'LogWarning' });

/**
 * `rejected` lists the first 1,000 of `rejectedTotal`. `undated` events have no usable time and get that of arrival. `warnings` has what makes
 * accepted events hard to use.
 */
export const LogReceipt = z.object({
  batchId: z.string(),
  accepted: z.number().int(),
  rejected: z.array(z.object({ line: z.number().int(), reason: z.string() })),
  rejectedTotal: z.number().int(),
  undated: z.number().int(),
  warnings: z.array(LogWarning),
  duplicateOf: z.string().nullable(),
});
export type LogReceipt = z.infer<typeof LogReceipt>;

export const ReceiveQuery = z.object({
  timeField: boundedString({ min: 1, max: 200 }).optional(),
  history: z.enum(['true', 'false']).optional(),
});
