import type { FeedItem } from '../../model/item.schema.ts';
import { demonymForms } from './demonyms.ts';
import type { EntityForms } from './entity.ts';
import { listCountryForms, listSectorForms } from '../../model/target-forms.ts';

/** Returns the names and CVEs of an item, and every sector and country, with the forms under which a text in a language mentions them. */
export function listEntityForms({ classification }: Pick<FeedItem, 'classification'>, language = 'en'): EntityForms[] {
  const { malware, actor, mappings } = classification;
  const names = [
    ...malware.map(({ name, aliases }) => ({
      kind: softwareKind(classification, name),
      name,
      forms: [name, ...aliases],
    })),
    ...actor.map(({ name, aliases }) => ({ kind: 'actor' as const, name, forms: [name, ...aliases] })),
  ];
  const vulnerabilities = mappings
    .filter(({ framework }) => framework === 'cve')
    .map(({ id }) => ({ kind: 'vulnerability' as const, name: id, forms: [id] }));
  // Sectors and countries count only as the targets of a name.
  return names.length === 0
    ? []
    : [...names, ...vulnerabilities, ...listSectorForms(language), ...listCountryForms(language), ...demonymForms];
}

/** Returns whether an item lists a name as a tool or as malware. */
export const softwareKind = ({ mappings }: FeedItem['classification'], name: string): 'tool' | 'malware' =>
  mappings.some(({ framework, id }) => framework === 'observable:tool' && id.toLowerCase() === name.toLowerCase())
    ? 'tool'
    : 'malware';
