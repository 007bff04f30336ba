import type { EntityDetail, EntityType } from '../api/entities.ts';
import { countOf } from '../lib/text.ts';

export const texts = {
  title: 'Entities',
  search: 'Name, alias or ID',
  type: 'Type',
  types: { actor: 'Actor', malware: 'Malware', tool: 'Tool', vulnerability: 'Vulnerability' } satisfies Record<
    EntityType,
    string
  >,
  name: 'Name',
  items: 'Items',
  firstSeen: 'First seen',
  lastSeen: 'Last seen',
  empty: 'No names yet',
  emptyBody: 'Actors, malware, tools and vulnerabilities that the items of the feed mention appear here.',
  filtered: 'No name begins with this.',
  clear: 'Clear filters',
  unknown: 'Not in the feed',
  itemCount: (count: number) => countOf(count, 'item'),
  aliases: 'Aliases',
  allAliases: (count: number) => `Show all ${count} aliases`,
  latestItems: 'Latest items',
  inFeed: 'Show in the feed',
  indicators: 'Indicators',
  techniques: 'Techniques',
  relationships: 'Relationships',
  stated: 'Stated',
  statedNote: '“Stated”: a passage connects it with this entity. The others are in the same items.',
  none: 'The latest items contain no indicators, techniques or relationships of it.',
  more: (count: number) => `Show ${count} more`,
  kinds: {
    uses: 'uses',
    targets: 'targets',
    exploits: 'exploits',
    'attributed-to': 'is attributed to',
  } satisfies Record<EntityDetail['relationships'][number]['type'], string>,
};
