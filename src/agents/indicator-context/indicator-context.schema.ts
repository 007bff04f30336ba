import { z } from 'zod';
import { severities } from '../../detection/analysis/candidate.ts';
import { hitStatuses } from '../../detection/hits/hits.schema.ts';
import { sightingMatches } from '../../feed/model/vocabulary.ts';
import { IndicatorLookup } from '../../feed/indicators/indicators.schema.ts';

const time = z.string().meta({ format: 'date-time' });

export const IndicatorContext = z
  .object({
    feed: IndicatorLookup,
    sightings: z
      .array(
        z.object({
          itemId: z.string(),
          connectionId: z.string(),
          dataset: z.string(),
          value: z.string(),
          match: z.enum(sightingMatches),
          observed: z.string(),
          event: z.string(),
          foundAt: time,
        }),
      )
      .describe(
        'Log rows that contain it, as the search for indicators of the feed found them, newest first. At most 50.',
      ),
    hits: z
      .array(
        z.object({
          id: z.string(),
          headline: z.string(),
          entity: z.string(),
          severity: z.enum(severities),
          status: z.enum(hitStatuses),
          createdAt: time,
        }),
      )
      .nullable()
      .describe(
        'Hits whose entity it is, or whose rows contain it, newest first. At most 20 of the newest 5,000. Null if the key lacks the scope `hits:read`.',
      ),
  })
  .meta({ id: 'IndicatorContext' });
export type IndicatorContext = z.infer<typeof IndicatorContext>;
