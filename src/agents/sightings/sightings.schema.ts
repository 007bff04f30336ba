import { z } from 'zod';

const Instant = z.string().meta({ format: 'date-time' });

export const ItemExposures = z
  .object({
    exposures: z.array(
      z.object({
        connectionId: z.string().describe('Of the SIEM; the embedded store has the id of the organization.'),
        dataset: z.string(),
        type: z.string(),
        value: z.string(),
        event: z.string().describe('The row as JSON, its first 16,000 characters.'),
        foundAt: Instant,
      }),
    ),
  })
  .meta({ id: 'ItemExposures' });
export type ItemExposures = z.infer<typeof ItemExposures>;

export const Sweeps = z
  .object({
    sweeps: z.array(
      z.object({
        connectionId: z.string(),
        lastAt: Instant.nullable(),
        failures: z.int().describe('In a row; it is tried again.'),
        lastError: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'FeedSweeps' });
export type Sweeps = z.infer<typeof Sweeps>;
