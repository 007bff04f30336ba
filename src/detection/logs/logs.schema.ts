import { z } from 'zod';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';

/** `rejected` lists the first 1,000 of `rejectedTotal`. `undated` events have no usable time and get that of arrival. */
export const LogReceipt = z.object({
  batchId: z.string(),
  accepted: z.number().int(),
  rejected: z.array(z.object({ line: z.number().int(), reason: z.string() })),
  rejectedTotal: z.number().int(),
  undated: z.number().int(),
  duplicateOf: z.string().nullable(),
});
export type LogReceipt = z.infer<typeof LogReceipt>;

export const ReceiveQuery = z.object({
  timeField: boundedString({ min: 1, max: 200 }).optional(),
  history: z.enum(['true', 'false']).optional(),
});

export const DatasetPath = z.object({ dataset: boundedString({ max: 100 }) });

const Column = z
  .object({
    name: z.string(),
    type: z.string(),
    declared: z.boolean().optional().describe('A user declared the type. Otherwise it follows the data.'),
    drift: z
      .object({
        count: z.number().int(),
        valueType: z.string().describe('JSON type of the latest of these values.'),
        at: z.string().describe('When the latest of them was received.'),
      })
      .optional()
      .describe('Values that do not fit the type. They are null in the column.'),
  })
  .meta({ id: 'DatasetColumn' });

export const Dataset = z
  .object({
    name: z.string(),
    events: z.number().int(),
    firstEventAt: z.string().nullable(),
    lastEventAt: z.string().nullable(),
    lastIngestedAt: z.string().nullable(),
    columns: z.array(Column),
  })
  .meta({ id: 'Dataset' });

export const DatasetList = z.object({ datasets: z.array(Dataset) });
export type DatasetList = z.infer<typeof DatasetList>;
