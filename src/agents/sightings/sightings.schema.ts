import { z } from 'zod';

const Instant = z.string().meta({ format: 'date-time' });

export const ItemSightings = z
  .object({
    exposures: z.array(
      z.object({
        connectionId: z
          .string()
          .describe('The connection of the SIEM. For the embedded log store it is the organization ID.'),
        dataset: z.string(),
        type: z.string(),
        value: z.string(),
        event: z.string().describe('The row as JSON, cut to 16,000 characters.'),
        foundAt: Instant,
      }),
    ),
  })
  .meta({ id: 'ItemExposures' });
export type ItemSightings = z.infer<typeof ItemSightings>;

export const SweepList = z
  .object({
    sweeps: z.array(
      z.object({
        connectionId: z.string(),
        lastAt: Instant.nullable(),
        failures: z.int().describe('The number of failures in a row. The search is retried.'),
        lastError: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'FeedSweeps' });
export type SweepList = z.infer<typeof SweepList>;
