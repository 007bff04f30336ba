import type { EntityDetail, EntityType } from '../api/entities.ts';
import { countOf } from '../lib/text.ts';
import { texts as common } from './common.ts';

type Relationship = EntityDetail['relationships'][number]['type'];

const direct: Record<Relationship, string> = {
  uses: 'Uses',
  targets: 'Targets',
  exploits: 'Exploits',
  'attributed-to': 'Attributed to',
};
const inverse: Record<Relationship, string> = {
  uses: 'Used by',
  targets: 'Targeted by',
  exploits: 'Exploited by',
  'attributed-to': 'Attributed',
};
const plurals: Record<string, string> = {
  actor: 'actors',
  malware: 'malware',
  tool: 'tools',
  vulnerability: 'vulnerabilities',
  technique: 'techniques',
  sector: 'sectors',
  country: 'countries',
};

export const texts = {
  title: common.pages.entities,
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
  techniques: 'Techniques',
  relationships: 'Relationships',
  stated: 'Stated',
  statedNote: '“Stated”: a passage connects it with this entity. The others are in the same items.',
  none: 'The latest items contain no indicators, techniques or relationships of it.',
  more: (count: number) => `Show ${count} more`,
  morePassages: (count: number) => (count === 1 ? 'Show 1 more passage' : `Show ${count} more passages`),
  /** The heading of what an entity is connected with, such as “Uses malware” or, seen from the malware, “Used by actors”. */
  connection: (type: Relationship, endType: string, isInverse: boolean) =>
    `${(isInverse ? inverse : direct)[type]} ${plurals[endType] ?? endType}`,
};
