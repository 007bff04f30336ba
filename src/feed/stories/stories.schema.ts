import { z } from 'zod';
import { PageQuery } from '../../platform/lib/page-request.ts';
import { filterFields } from '../items/feed-filters.ts';
import { ItemLine } from '../model/item.schema.ts';
import { Instant } from '../model/overrides.schema.ts';
import { severities } from '../model/vocabulary.ts';

/** The filters of items that a story must have one item for. */
export const StoriesQuery = PageQuery.extend(filterFields);
export type StoriesQuery = z.infer<typeof StoriesQuery>;

export const Story = z
  .object({
    id: z.string().describe('The id of the item that the feed added first. Any item of the story leads to it.'),
    title: z.string().describe('The title of the item that was published first.'),
    severity: z
      .enum(severities)
      .describe(
        'The most severe level of its items that is well founded: by a person, a structured record or a passage. If none is, the most severe one.',
      ),
    severityItemId: z.string().describe('The item whose level it is.'),
    firstPublished: Instant.describe('When its first item was published, or else added.'),
    lastPublished: Instant,
    sources: z.array(z.object({ publisher: z.string(), items: z.int() })).describe('The most frequent first.'),
    items: z
      .array(ItemLine)
      .describe('The time line: items that are not retracted, in the order of their publication, at most 200.'),
    hasMore: z
      .boolean()
      .describe('Whether the story is so large that it has, or may have, items that are missing here.'),
    reasons: z
      .array(
        z.object({
          kind: z
            .enum(['duplicate', 'indicator', 'vulnerability', 'names'])
            .describe(
              '`duplicate`: they are duplicates. `indicator`: they share a value that few items have. `vulnerability`: both are about a CVE. `names`: they share an actor and malware within days.',
            ),
          values: z.array(z.string()).describe('What they share, at most 20. Empty for duplicates.'),
          itemIds: z.array(z.string()).length(2),
        }),
      )
      .describe('Why its items belong together, pair by pair, at most 200. Empty for a story of one item.'),
  })
  .meta({ id: 'Story' });
export type Story = z.infer<typeof Story>;

export const StoryList = z.object({ stories: z.array(Story), nextCursor: z.string().nullable() });
export type StoryList = z.infer<typeof StoryList>;
