import { z } from 'zod';
import { CountOutputs } from '../model/item.schema.ts';
import { platforms } from '../model/platforms.ts';
import { itemStatuses, severities } from '../model/vocabulary.ts';
import { filterFields } from './feed-filters.ts';

export const FacetsQuery = z.object(filterFields);

export const FeedFacets = z
  .object({
    total: z.int().describe('Items that match all filters.'),
    severity: z.record(z.enum(severities), z.int()),
    status: z.record(z.enum(itemStatuses), z.int()),
    platform: z.record(z.enum(platforms), z.int()),
    source: z
      .array(
        z.object({
          name: z.string().describe('A publisher or source name.'),
          type: z.enum(['source', 'publisher']).describe('`source` if a source and a publisher share the name.'),
          items: z.int(),
        }),
      )
      .describe('The most frequent first, at most 200. With `duplicates=hide`, those of the roots.'),
    outputs: CountOutputs,
  })
  .meta({ id: 'FeedFacets' });
export type FeedFacets = z.infer<typeof FeedFacets>;
