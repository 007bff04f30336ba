import type { FeedItem } from '../../model/item.schema.ts';
import { listCountryForms, listSectorForms } from '../../model/target-forms.ts';
import { nameKey } from '../../reference-data/name-forms.ts';

export type EntityKind = 'actor' | 'malware' | 'tool' | 'vulnerability' | 'sector' | 'country';
/** Something that a passage can mention: a name of the item by its canonical name, a CVE, a sector of STIX, or the code of a country. */
export type Entity = { kind: EntityKind; name: string };
/** An entity with the forms under which a text mentions it. */
export type EntityForms = Entity & { forms: string[] };

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

/** The adjectives of countries by their codes: `targeted Ukrainian agencies`. */
const demonyms =
  'AE Emirati, AF Afghan, AL Albanian, AM Armenian, AR Argentinian, AT Austrian, AU Australian, AZ Azerbaijani, BD Bangladeshi, BE Belgian, BG Bulgarian, BR Brazilian, BY Belarusian, CA Canadian, CH Swiss, CL Chilean, CN Chinese, CO Colombian, CZ Czech, DE German, DK Danish, EC Ecuadorian, EE Estonian, EG Egyptian, ES Spanish, ET Ethiopian, FI Finnish, FR French, GB British, GE Georgian, GR Greek, HR Croatian, HU Hungarian, ID Indonesian, IE Irish, IL Israeli, IN Indian, IQ Iraqi, IR Iranian, IT Italian, JO Jordanian, JP Japanese, KE Kenyan, KH Cambodian, KR South Korean, KW Kuwaiti, KZ Kazakh, LB Lebanese, LT Lithuanian, LV Latvian, MA Moroccan, MD Moldovan, MM Burmese, MN Mongolian, MX Mexican, MY Malaysian, NG Nigerian, NL Dutch, NO Norwegian, NP Nepalese, OM Omani, PE Peruvian, PH Philippine, PK Pakistani, PL Polish, PT Portuguese, QA Qatari, RO Romanian, RS Serbian, RU Russian, SA Saudi, SE Swedish, SG Singaporean, SI Slovenian, SK Slovak, SY Syrian, TH Thai, TN Tunisian, TR Turkish, TW Taiwanese, UA Ukrainian, US American, UZ Uzbek, VE Venezuelan, VN Vietnamese, ZA South African';

const demonymForms: EntityForms[] = demonyms.split(', ').map((entry) => ({
  kind: 'country',
  name: entry.slice(0, 2),
  forms: [entry.slice(3)],
}));

/** The adjectives as an alternation of a pattern. */
export const demonymWords = demonymForms.flatMap(({ forms }) => forms).join('|');

const keys = new Set(demonymForms.flatMap(({ forms }) => forms.map(nameKey)));

/** Returns whether a word is the adjective of a country, which stands for a target only with a noun after it. */
export const isDemonym = (word: string): boolean => keys.has(nameKey(word));
