import { z } from 'zod';
import { PageQuery } from '../../platform/lib/page-request.ts';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { filterFields } from '../items/feed-filters.ts';
import { ItemLine } from '../model/item.schema.ts';
import { Instant } from '../model/overrides.schema.ts';
import { indicatorStatuses } from '../model/vocabulary.ts';

export const entityTypes = ['actor', 'malware', 'tool', 'vulnerability'] as const;
export type EntityType = (typeof entityTypes)[number];

const { q: _text, ...itemFilters } = filterFields;

/** The filters of items, except their text: `q` is the beginning of a name. */
export const EntitiesQuery = PageQuery.extend({
  ...itemFilters,
  type: z.enum(entityTypes).optional(),
  q: boundedString({ max: 200 })
    .optional()
    .describe('The beginning of a name or of an alias, or an ATT&CK id. Case, spaces and punctuation do not matter.'),
});
export type EntitiesQuery = z.infer<typeof EntitiesQuery>;

export const EntityPath = z.object({
  type: z.enum(entityTypes),
  name: boundedString({ min: 1, max: 200 }).describe(
    'The canonical name, an alias or the ATT&CK id, or the id of a CVE.',
  ),
});

export const FeedEntity = z
  .object({
    type: z.enum(entityTypes),
    name: z.string().describe('The canonical name, or the id of a CVE.'),
    attackId: z.string().optional().describe('The ATT&CK id of an actor, malware or a tool, such as `G0045`.'),
    items: z.int().describe('The number of items that contain the name and are not retracted.'),
    firstSeen: Instant.describe('The time of the first of these items: its publish time, or when it was added.'),
    lastSeen: Instant.describe('The time of the last of these items.'),
  })
  .meta({ id: 'FeedEntity' });
export type FeedEntity = z.infer<typeof FeedEntity>;

export const FeedEntities = z.object({ entities: z.array(FeedEntity), nextCursor: z.string().nullable() });
export type FeedEntities = z.infer<typeof FeedEntities>;

const End = z.object({
  type: z.string().describe('`actor`, `malware`, `tool`, `vulnerability`, `technique`, `sector` or `country`.'),
  name: z.string(),
});

export const FeedEntityDetail = FeedEntity.extend({
  aliases: z.array(z.string()),
  latestItems: z
    .array(ItemLine)
    .describe('The newest items, at most 50. `indicators`, `techniques` and `relationships` come from these.'),
  indicators: z
    .array(
      z.object({
        type: z.string(),
        value: z.string(),
        status: z.enum(indicatorStatuses),
        isStated: z
          .boolean()
          .describe('A passage states that the value belongs to the entity. Otherwise both are in one item.'),
        items: z.array(z.string()).describe('Ids of the items, at most 10.'),
      }),
    )
    .describe('Stated ones first, at most 500. Without false positives and revoked values.'),
  techniques: z
    .array(z.object({ id: z.string(), name: z.string(), isStated: z.boolean(), items: z.array(z.string()) }))
    .describe('Stated ones first, at most 200.'),
  relationships: z
    .array(
      z.object({
        type: z.enum(['uses', 'targets', 'exploits', 'attributed-to']),
        source: End,
        target: End,
        passage: z.string(),
        itemId: z.string(),
      }),
    )
    .describe('What passages, or relationships of the source, state about the entity, at most 200.'),
}).meta({ id: 'FeedEntityDetail' });
export type FeedEntityDetail = z.infer<typeof FeedEntityDetail>;
