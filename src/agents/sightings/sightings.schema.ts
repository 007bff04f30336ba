import { z } from 'zod';
import { sightingMatches } from '../../feed/model/vocabulary.ts';

const Instant = z.string().meta({ format: 'date-time' });

const SightingMatch = z
  .enum(sightingMatches)
  .describe(
    'Why the row matches: `exact`: it contains the indicator. `url_host`: the indicator is the host of a URL in the row, or a URL whose host is in the row and belongs to the attacker. `parent_domain`: a host in the row is below the domain. `network`: an address in the row is in the network.',
  );

export const ItemSightings = z
  .object({
    sightings: z.array(
      z.object({
        connectionId: z
          .string()
          .describe('The connection of the SIEM. For the embedded log store it is the organization ID.'),
        dataset: z.string(),
        type: z.string(),
        value: z.string().describe('The indicator.'),
        match: SightingMatch,
        observed: z.string().describe('The value of the row that matches the indicator.'),
        event: z.string().describe('The row as JSON, cut to 16,000 characters.'),
        foundAt: Instant,
      }),
    ),
  })
  .meta({ id: 'ItemSightings' });
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
